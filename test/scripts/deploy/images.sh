#!/usr/bin/env bash
# images.sh PREFIX NODE: images of Node with npm, Redis, Postgres and nginx, made of this machine's own programs and
# their libraries. No registry is needed.
set -euo pipefail
prefix=$1 node=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/signalbox-images-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# Files with the libraries that they load, by the same paths.
put() {
  local file
  for file in "$@"; do
    echo "$file"
    ldd "$file" 2>/dev/null | grep -o '/[^ ]*' || true
  done | sort -u | sed 's,^/,,' |
    tar --create --dereference --directory / --files-from - | tar --extract --directory "$root" --keep-directory-symlink
}

new_root() {
  root=$scratch/root
  rm -rf "$root"
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,tmp,run,proc,dev}
  for each in bin sbin lib lib64; do ln -s "usr/$each" "$root/$each"; done
  chmod 1777 "$root/tmp"
  printf '%s:x:%d:%d::/tmp:/bin/sh\n' root 0 0 node 1000 1000 postgres 999 999 nobody 65534 65534 \
    >"$root/etc/passwd"
  printf '%s:x:%d:\n' root 0 node 1000 postgres 999 nogroup 65534 >"$root/etc/group"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  for each in cat chmod chown cp env grep ls mkdir mkfifo mv rm sed seq sleep; do put "$(command -v "$each")"; done
  put "$(readlink -f "$(command -v dash)")"
  ln -sf dash "$root/usr/bin/sh"
  # Loaded by name, to look up hosts.
  for each in $(ldconfig -p | grep -o '/[^ ]*\(libnss_\(dns\|files\)\|libresolv\)\.so\.2'); do put "$each"; done
}

import() { tar --create --directory "$root" . | docker import "${@:2}" - "$prefix-$1" >/dev/null; }

new_root
put "$node" "$(command -v tar)" "$(command -v gzip)"
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
mkdir -p "$root"/usr/local/{bin,lib} "$root/etc/ssl/certs"
[ "$node" = /usr/local/bin/node ] || mv "$root$node" "$root/usr/local/bin/node" # containers mount a folder of their own over /tmp, where it may lie
cp -r "$npm" "$root/usr/local/lib/npm"
ln -s ../lib/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
certificates=/etc/ssl/certs/ca-certificates.crt
[ -e "$certificates" ] && cp --dereference "$certificates" "$root$certificates"
import node --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin' --change "ENV NODE_EXTRA_CA_CERTS=$certificates"

new_root
put "$(command -v redis-server || command -v valkey-server)" "$(command -v redis-cli || command -v valkey-cli)"
for each in server cli; do [ -e "$root/usr/bin/redis-$each" ] || ln -s "valkey-$each" "$root/usr/bin/redis-$each"; done
mkdir -p "$root/data" && chown 999:999 "$root/data"
import redis --change 'ENV PATH=/usr/bin:/bin' --change 'WORKDIR /data'

new_root
initdb=$(command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' | tail -n 1)
bin=$(dirname "$(readlink -f "$initdb")")
put "$bin"/{postgres,initdb,pg_isready}
libraries=$("$bin/pg_config" --pkglibdir 2>/dev/null || echo "${bin%/bin}/lib")
put "$libraries"/{plpgsql,dict_snowball}.so
[ -e "$libraries/amcheck.so" ] && put "$libraries/amcheck.so"
share=$("$bin/pg_config" --sharedir 2>/dev/null || echo "/usr/share/postgresql/$(basename "${bin%/bin}")")
mkdir -p "$root$share"
cp -rL "$share/." "$root$share"
mkdir -p "$root/usr/share" && cp -r /usr/share/zoneinfo "$root/usr/share/"
mkdir -p "$root/var/lib/postgresql/data" "$root/var/run/postgresql"
chown 999:999 "$root/var/lib/postgresql/data" "$root/var/run/postgresql"
chmod 3777 "$root/var/run/postgresql" # a tmpfs takes it over
# Does what the start of the usual image does, as far as compose.yaml needs it.
cat >"$root/start.sh" <<START
set -e
data=/var/lib/postgresql/data
if [ ! -e \$data/PG_VERSION ]; then
  echo "\$POSTGRES_PASSWORD" >/tmp/password
  initdb --pgdata \$data --username "\$POSTGRES_USER" --pwfile /tmp/password --auth scram-sha-256 \
    --encoding UTF8 --locale C --no-sync
  echo 'host all all all scram-sha-256' >>\$data/pg_hba.conf
  echo "create database \$POSTGRES_DB" | postgres --single -D \$data postgres
fi
exec postgres -D \$data -c listen_addresses='*'
START
import postgres --change "ENV PATH=$bin:/usr/bin:/bin" --change 'ENV LC_ALL=C' --change 'CMD ["sh", "/start.sh"]'

new_root
nginx=$(command -v nginx || echo /usr/sbin/nginx)
put "$nginx"
mkdir -p "$root"/etc/nginx "$root"/var/{log,lib}/nginx
import nginx --change 'ENV PATH=/usr/bin:/bin' --change "CMD [\"$nginx\", \"-g\", \"daemon off;\"]"
