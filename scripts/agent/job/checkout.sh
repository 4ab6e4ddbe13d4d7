# Usage: checkout.sh description-file repository commit branch submodules ref
# Clones the repository into the present folder, checks the commit (or HEAD of the branch) out, and writes its
# description to the file. Branch, commit and ref come from webhooks: they are never options. Submodules false leaves
# these out. The ref has the commit if no branch has it, and may be empty.
description=$1 repository=$2 commit=$3 branch=$4 submodules=$5 ref=$6

resolve() {
  git rev-parse --quiet --verify --end-of-options "$1^{commit}"
}

git clone --no-checkout -- "$repository" . || exit
if [ "$commit" != HEAD ]; then
  [ -z "$ref" ] || git fetch -- origin "$ref" || exit
  resolve "$commit" >/dev/null || git fetch -- origin "$commit" || exit
  sha=$(resolve "$commit") || sha=$(resolve FETCH_HEAD) || exit
elif [ -n "$ref$branch" ]; then
  git fetch -- origin "${ref:-$branch}" || exit
  sha=$(resolve FETCH_HEAD) || exit
else
  sha=$(resolve HEAD) || exit
fi
git -c advice.detachedHead=false checkout --force --detach "$sha" || exit
if [ -f .gitmodules ] && [ "$submodules" != false ]; then
  git submodule update --init --recursive --force || exit
fi
git --no-pager log -1 --no-color \
  --format='commit %H%nabbrev-commit %h%nAuthor: %an <%ae>%n%n%w(0,4,4)%B' "$sha" >"$description"
