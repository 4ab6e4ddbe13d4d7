export const kilobyte = 1024;
export const megabyte = 1024 * kilobyte;

/** Shaped like a code host's push event. */
export function pushPayload(bytes: number): string {
  const push = { ref: "refs/heads/main", repository, commits: [] as object[], padding: "" };
  const empty = JSON.stringify(push).length;
  const perCommit = JSON.stringify(commit(0)).length + 16;
  const commits = Math.floor((bytes - empty) / perCommit);
  push.commits = Array.from({ length: commits }, (_, index) => commit(index));
  push.padding = "x".repeat(bytes - JSON.stringify(push).length);
  return JSON.stringify(push);
}

/** A push of GitHub, of one commit: with each index it is another one. */
export function githubPush(index: number, bytes: number, branch = `work-${index % 20}`): string {
  const head = commit(index);
  const { id, url } = head;
  const push = {
    ref: `refs/heads/${branch}`,
    before: "0".repeat(40),
    after: id,
    deleted: false,
    compare: url,
    repository,
    pusher: { name: head.author.username, email: head.author.email },
    commits: [] as object[],
    head_commit: head,
    padding: "",
  };
  const empty = JSON.stringify(push).length;
  push.commits = Array.from(
    { length: Math.floor((bytes - empty) / JSON.stringify(head).length) },
    () => head,
  );
  push.padding = "x".repeat(Math.max(0, bytes - JSON.stringify(push).length));
  return JSON.stringify(push);
}

/** A push of GitLab. */
export function gitlabPush(commit: string, bytes: number): string {
  const push = {
    object_kind: "push",
    ref: "refs/heads/main",
    checkout_sha: commit,
    message: "Light the harbour",
    user_username: "ada",
    project: { path_with_namespace: "lighthouse/harbour", web_url: "https://gitlab.com/lighthouse/harbour" },
    padding: "",
  };
  push.padding = "x".repeat(bytes - JSON.stringify(push).length);
  return JSON.stringify(push);
}

/** A pull request of GitHub that is open, with the branch of its number and the commit of an index. */
export function githubRequest(number: number, index: number): string {
  const side = (ref: string, of: number) => ({ ref, sha: commit(of).id, user: { login: "lighthouse" } });
  const repo = { ...repository, clone_url: "https://github.com/lighthouse/harbour.git", fork: false };
  const request = {
    number,
    title: `Change number ${number}`,
    html_url: `https://github.com/lighthouse/harbour/pull/${number}`,
    state: "open",
    draft: false,
    user: { login: "ada" },
    labels: [],
    head: { ...side(branchOfRequest(number), index), repo },
    base: { ...side("main", 0), repo },
  };
  return JSON.stringify({ action: "opened", number, pull_request: request, repository: repo });
}

export function branchOfRequest(number: number): string {
  return `request-${number}`;
}

/** 4.7 MB of keys: slow to check, and to deflate. */
export function manyKeys(): string {
  const members = Array.from({ length: 330_000 }, (_, index) => `"key${String(index).padStart(6, "0")}":1`);
  return `{${members.join(",")}}`;
}

const repository = {
  id: 1296269,
  full_name: "lighthouse/harbour",
  private: false,
  default_branch: "main",
  html_url: "https://git.example.com/lighthouse/harbour",
};

function commit(index: number) {
  const sha = (0x5eed0000 + index).toString(16).padEnd(40, "0");
  return {
    id: sha,
    message: `Change number ${index}\n\nIt says "why", as a good message does.`,
    timestamp: "2026-01-31T12:00:00Z",
    url: `https://git.example.com/lighthouse/harbour/commit/${sha}`,
    author: { name: "Ada Example", email: "ada@example.com", username: "ada" },
    added: [`docs/chapter-${index}.md`],
    removed: [],
    modified: ["README.md", `src/part-${index % 7}/index.ts`],
    distinct: true,
  };
}
