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
