import { base, sha } from "./payloads.ts";

// GitHub's payloads with the members that it documents; of the rest some.

const repository = {
  id: 7,
  full_name: "acme/app",
  clone_url: "https://github.com/acme/app.git",
  fork: false,
};

export function githubPush(change: object = {}, head: object = {}) {
  return {
    ref: "refs/heads/main",
    before: base,
    after: sha,
    created: false,
    deleted: false,
    forced: false,
    compare: "https://github.com/acme/app/compare/a10867b14bb7...6113728f27ae",
    commits: [],
    head_commit: {
      id: sha,
      message: "Make it faster",
      timestamp: "2026-01-31T12:00:00+00:00",
      author: { name: "Ada Lovelace", email: "ada@example.com", username: "ada" },
      ...head,
    },
    repository,
    pusher: { name: "ada", email: "ada@example.com" },
    ...change,
  };
}

export function githubRequest(action: string, change: object = {}, others: object = {}) {
  const user = { login: "ada", id: 1 };
  return {
    action,
    number: 42,
    pull_request: {
      number: 42,
      title: "Make it faster",
      html_url: "https://github.com/acme/app/pull/42",
      state: "open",
      draft: false,
      user,
      labels: [{ id: 1, name: "speed" }],
      head: { ref: "faster", sha, user: { login: "acme" }, repo: repository },
      base: { ref: "main", sha: base, user: { login: "acme" }, repo: repository },
      ...change,
    },
    repository,
    ...others,
  };
}

export const githubFork = {
  head: {
    ref: "faster",
    sha,
    user: { login: "eve" },
    repo: { id: 8, full_name: "eve/app", clone_url: "https://github.com/eve/app.git", fork: true },
  },
};

export function githubGroup(action: string) {
  return {
    action,
    merge_group: {
      head_sha: sha,
      head_ref: "refs/heads/gh-readonly-queue/main/pr-42-6113728",
      base_sha: base,
      base_ref: "refs/heads/main",
      head_commit: { message: "Merge", author: { name: "Ada Lovelace", email: "ada@example.com" } },
    },
    repository,
  };
}
