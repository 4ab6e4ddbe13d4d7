import assert from "node:assert/strict";
import { describe, it } from "node:test";
import examples from "@octokit/webhooks-examples" with { type: "json" };
import type { Happened } from "../../shared/sources/happened.ts";
import { type ProviderId, providers } from "../../shared/sources/providers.ts";
import {
  base,
  bitbucketChange,
  bitbucketPush,
  bitbucketRequest,
  giteaPush,
  giteaRequest,
  gitlabFork,
  gitlabPush,
  gitlabRequest,
  serverFork,
  serverPush,
  serverRequest,
  sha,
  zeros,
} from "./payloads.ts";

function read(provider: ProviderId, event: string, body: object): Happened {
  const reading = providers[provider].read(event, structuredClone(body));
  if ("problem" in reading) assert.fail(reading.problem);
  return reading.happened;
}

function problemOf(provider: ProviderId, event: string, body: unknown): string {
  const reading = providers[provider].read(event, body);
  assert.ok("problem" in reading, "the event was read");
  return reading.problem;
}

const ada = { name: "Ada Lovelace", email: "ada@example.com" };
const pushOf = (change: object): Happened => ({
  type: "push",
  changes: [
    {
      type: "branch",
      name: "main",
      commit: sha,
      message: "Make it faster",
      author: ada,
      url: null,
      ...change,
    } as never,
  ],
});

/** Host, event, body; what it is. */
const pushes: [string, ProviderId, string, object, Happened][] = [
  [
    "a branch",
    "gitlab",
    "Push Hook",
    gitlabPush(),
    pushOf({
      message: "Make it faster\n\nMuch faster",
      url: `https://gitlab.example.com/acme/app/-/commit/${sha}`,
    }),
  ],
  [
    "a branch without commits",
    "gitlab",
    "Push Hook",
    gitlabPush({ commits: [] }),
    pushOf({
      message: null,
      author: { ...ada, username: "ada" },
      url: `https://gitlab.example.com/acme/app/-/compare/${base}...${sha}`,
    }),
  ],
  [
    "a deleted branch",
    "gitlab",
    "Push Hook",
    gitlabPush({ after: zeros, checkout_sha: null, commits: [] }),
    pushOf({ commit: null, message: null, author: { ...ada, username: "ada" } }),
  ],
  [
    "an annotated tag",
    "gitlab",
    "Tag Push Hook",
    gitlabPush({ object_kind: "tag_push", ref: "refs/tags/v1", after: base, before: zeros }),
    pushOf({
      type: "tag",
      name: "v1",
      message: "Make it faster\n\nMuch faster",
      url: `https://gitlab.example.com/acme/app/-/commit/${sha}`,
    }),
  ],
  [
    "a branch",
    "gitea",
    "push",
    giteaPush(),
    pushOf({
      author: { name: "Ada", email: "ada@example.com", username: "ada" },
      url: `https://git.example.com/acme/app/compare/${base}...${sha}`,
    }),
  ],
  [
    "an annotated tag",
    "gitea",
    "push",
    giteaPush({ ref: "refs/tags/v1", after: base, compare_url: "" }),
    pushOf({ type: "tag", name: "v1", author: { name: "Ada", email: "ada@example.com", username: "ada" } }),
  ],
  [
    "a deleted branch",
    "gitea",
    "push",
    giteaPush({ after: zeros, head_commit: null, compare_url: "" }),
    pushOf({ commit: null, message: null, author: { email: "ada@example.com", username: "ada" } }),
  ],
  [
    "a branch deleted on its pages",
    "gitea",
    "delete",
    { ref: "main", ref_type: "branch", pusher_type: "user" },
    pushOf({ commit: null, message: null, author: null }),
  ],
  [
    "a branch",
    "bitbucket",
    "repo:push",
    bitbucketPush(bitbucketChange()),
    pushOf({
      author: { ...ada, username: "ada" },
      url: `https://bitbucket.org/acme/app/branches/compare/${sha}..${base}`,
    }),
  ],
  [
    "a deleted branch",
    "bitbucket",
    "repo:push",
    bitbucketPush(bitbucketChange({ new: null, closed: true, links: undefined })),
    pushOf({ commit: null, message: null, author: null }),
  ],
  [
    "a tag that is made",
    "bitbucket",
    "repo:push",
    bitbucketPush(
      bitbucketChange({
        new: { ...bitbucketChange().new, type: "tag", name: "v1" },
        old: null,
        created: true,
        links: {
          commits: { href: `https://api.bitbucket.org/2.0/repositories/acme/app/commits?include=${sha}` },
        },
      }),
    ),
    pushOf({ type: "tag", name: "v1", author: { ...ada, username: "ada" } }),
  ],
  [
    "a branch",
    "bitbucket_server",
    "repo:refs_changed",
    serverPush(),
    pushOf({ author: { ...ada, username: "ada" } }),
  ],
  [
    "a tag",
    "bitbucket_server",
    "repo:refs_changed",
    serverPush({ refId: "refs/tags/v1", type: "ADD", fromHash: zeros }),
    pushOf({ type: "tag", name: "v1", author: { ...ada, username: "ada" } }),
  ],
  [
    "a deleted branch",
    "bitbucket_server",
    "repo:refs_changed",
    serverPush({ toHash: zeros, type: "DELETE" }, { toCommit: null }),
    pushOf({ commit: null, message: null, author: { ...ada, username: "ada" } }),
  ],
];

describe("pushes of hosts", () => {
  for (const [what, provider, event, body, happened] of pushes)
    it(`${provider} says ${what}`, () => assert.deepEqual(read(provider, event, body), happened));

  it("bitbucket says several changes, at most 20", () => {
    const changes = Array.from({ length: 500 }, (_, index) =>
      bitbucketChange({ new: { ...bitbucketChange().new, name: `b${index}` } }),
    );
    const happened = read("bitbucket", "repo:push", bitbucketPush(...changes));
    assert.ok(happened.type === "push");
    assert.deepEqual(
      happened.changes.map(({ name }) => name),
      Array.from({ length: 20 }, (_, index) => `b${index}`),
    );
  });

  it("gitlab's hooks of the system say some events by another member", () => {
    const { object_kind, ...push } = gitlabPush();
    assert.deepEqual(read("gitlab", "System Hook", push), read("gitlab", "System Hook", gitlabPush()));
    assert.deepEqual(read("gitlab", "System Hook", { event_name: "repository_update" }), { type: "other" });
  });

  for (const ref of ["refs/notes/commits", "refs/pull/7/head", "HEAD"])
    it(`ignore ${ref}`, () => assert.equal(read("gitea", "push", giteaPush({ ref })).type, "other"));
});

const githubExamples = (examples as unknown as { name: string; examples: { action?: string }[] }[]).flatMap(
  ({ name, examples }) => examples.map((body) => ({ name, body })),
);

describe("GitHub's recorded events", () => {
  it("are all understood", () => {
    const problems = githubExamples.flatMap(({ name, body }) => {
      const reading = providers.github.read(name, body);
      return "problem" in reading ? [`${name} ${body.action}: ${reading.problem}`] : [];
    });
    assert.deepEqual(problems, []);
  });

  it("are pushes, pull requests and merge groups, or nothing to build", () => {
    const kinds = Map.groupBy(githubExamples, ({ name, body }) => read("github", name, body).type);
    const names = (kind: string) => [...new Set(kinds.get(kind as never)?.map(({ name }) => name))].sort();
    assert.deepEqual(names("push"), ["push"]);
    assert.deepEqual(names("pull_request"), ["pull_request", "pull_request_review"]);
    assert.deepEqual(names("merge_group"), ["merge_group"]);
    assert.ok((kinds.get("other")?.length ?? 0) > 100);
  });

  it("name the commit of an annotated tag, not the tag", () => {
    const [push] = githubExamples.filter(({ name }) => name === "push").map(({ body }) => body);
    const happened = read("github", "push", { ...push, after: base });
    assert.ok(happened.type === "push");
    assert.equal(happened.changes[0]?.commit, sha);
  });
});

/** Host, event, body; the action; members that differ from the first request of its host. */
const requests: [ProviderId, string, object, string, object?][] = [
  ["gitlab", "", gitlabRequest(), "opened"],
  ["gitlab", "", gitlabRequest({ action: "update", oldrev: base }), "new_commits"],
  ["gitlab", "", gitlabRequest({ action: "update" }, { changes: { title: {} } }), "edited"],
  ["gitlab", "", gitlabRequest({ action: "update" }, { changes: { target_branch: {} } }), "base_changed"],
  [
    "gitlab",
    "",
    gitlabRequest({ action: "update" }, { changes: { draft: { current: false } } }),
    "ready_for_review",
  ],
  [
    "gitlab",
    "",
    gitlabRequest({ action: "update", draft: true }, { changes: { draft: { current: true } } }),
    "converted_to_draft",
    { isDraft: true },
  ],
  [
    "gitlab",
    "",
    gitlabRequest(
      { action: "update" },
      { changes: { labels: { previous: [], current: [{ title: "speed" }] } } },
    ),
    "labels_changed",
  ],
  ["gitlab", "", gitlabRequest({ action: "reopen" }), "reopened"],
  ["gitlab", "", gitlabRequest({ action: "approved" }), "other"],
  ["gitlab", "", gitlabRequest({ action: "merge", state: "merged" }), "closed", { isClosed: true }],
  [
    "gitlab",
    "",
    gitlabRequest(gitlabFork),
    "opened",
    { isFork: true, forkOwner: "eve", repository: "https://gitlab.example.com/eve/app.git" },
  ],
  [
    "gitlab",
    "",
    gitlabRequest({ source_project_id: null, source: null }),
    "opened",
    { isFork: true, repository: null },
  ],
  ["gitea", "pull_request", giteaRequest("opened"), "opened"],
  ["gitea", "pull_request", giteaRequest("synchronized"), "new_commits"],
  ["gitea", "pull_request", giteaRequest("label_updated"), "labels_changed"],
  [
    "gitea",
    "pull_request",
    giteaRequest("edited", {}, { changes: { ref: { from: "old" } } }),
    "base_changed",
  ],
  [
    "gitea",
    "pull_request",
    giteaRequest("edited", { title: "WIP: x" }),
    "edited",
    { title: "WIP: x", isDraft: true },
  ],
  ["gitea", "pull_request", giteaRequest("closed", { state: "closed" }), "closed", { isClosed: true }],
  ["gitea", "pull_request", giteaRequest("assigned"), "other"],
  [
    "gitea",
    "pull_request",
    giteaRequest("opened", { head: { ref: "faster", sha, repo: null } }),
    "opened",
    { isFork: true, repository: null },
  ],
  ["bitbucket", "pullrequest:created", bitbucketRequest(), "opened"],
  ["bitbucket", "pullrequest:updated", bitbucketRequest(), "new_commits"],
  ["bitbucket", "pullrequest:fulfilled", bitbucketRequest({ state: "MERGED" }), "closed", { isClosed: true }],
  [
    "bitbucket",
    "pullrequest:rejected",
    bitbucketRequest({ state: "DECLINED" }),
    "closed",
    { isClosed: true },
  ],
  [
    "bitbucket",
    "pullrequest:created",
    bitbucketRequest({}, "eve/app"),
    "opened",
    { isFork: true, forkOwner: "eve", repository: "https://bitbucket.org/eve/app" },
  ],
  ["bitbucket_server", "pr:opened", serverRequest("pr:opened"), "opened"],
  ["bitbucket_server", "pr:from_ref_updated", serverRequest("pr:from_ref_updated"), "new_commits"],
  ["bitbucket_server", "pr:modified", serverRequest("pr:modified", {}, { previousTarget: null }), "edited"],
  [
    "bitbucket_server",
    "pr:modified",
    serverRequest("pr:modified", {}, { previousTarget: { displayId: "old" } }),
    "base_changed",
  ],
  [
    "bitbucket_server",
    "pr:merged",
    serverRequest("pr:merged", { state: "MERGED" }),
    "closed",
    { isClosed: true },
  ],
  [
    "bitbucket_server",
    "pr:opened",
    serverRequest("pr:opened", serverFork),
    "opened",
    { isFork: true, forkOwner: "~EVE", repository: "https://git.example.com/scm/~eve/app.git" },
  ],
];

describe("pull requests of hosts", () => {
  const firsts = new Map<ProviderId, object>();
  for (const [provider, event, body, action, changed = {}] of requests) {
    const happened = providers[provider].read(event, structuredClone(body));
    it(`${provider} says ${action}, ${JSON.stringify(changed)}`, () => {
      assert.ok(
        "happened" in happened && happened.happened.type === "pull_request",
        JSON.stringify(happened),
      );
      const { request, isPushedToo } = happened.happened;
      assert.equal(happened.happened.action, action);
      assert.equal(isPushedToo, !request.isFork);
      const first = firsts.get(provider) ?? request;
      firsts.set(provider, first);
      assert.deepEqual(request, { ...first, ...changed });
    });
  }

  it("have no page at a Data Center that was not told its own address", () => {
    const happened = read(
      "bitbucket_server",
      "pr:opened",
      serverRequest("pr:opened", { links: { self: [null] } }),
    );
    assert.ok(happened.type === "pull_request");
    assert.equal(happened.request.url, null);
  });

  it("have a number, a branch, a commit and a base", () => {
    for (const first of firsts.values()) {
      const { number, title, branch, commit, baseBranch } = first as Record<string, string>;
      assert.deepEqual([number, title, branch, baseBranch], [42, "Make it faster", "faster", "main"]);
      assert.ok(sha.startsWith(commit ?? "none"));
    }
    assert.equal(firsts.size, 4);
  });
});

describe("hostile events", () => {
  const hostile = [
    "-x",
    "a..b",
    "a b",
    "a\nb",
    "a~1",
    "a/",
    ".a",
    "a.lock",
    "@",
    "a@{1}",
    "x".repeat(10_000),
    "a:b",
    "",
  ];
  for (const name of hostile)
    it(`no branch is called ${JSON.stringify(name.slice(0, 20))}`, () => {
      const ref = `refs/heads/${name}`;
      assert.match(problemOf("github", "push", giteaPush({ ref })), /^ref: /);
      assert.match(problemOf("gitlab", "", gitlabPush({ ref })), /^ref: /);
      assert.match(
        problemOf("bitbucket_server", "repo:refs_changed", serverPush({ refId: ref })),
        /^changes/,
      );
      const change = bitbucketChange({ new: { ...bitbucketChange().new, name } });
      assert.match(problemOf("bitbucket", "repo:push", bitbucketPush(change)), /^push/);
      const head = { ref: name, sha, repo: null };
      assert.match(problemOf("gitea", "pull_request", giteaRequest("opened", { head })), /head\.ref/);
      assert.match(problemOf("gitlab", "", gitlabRequest({ source_branch: name })), /source_branch/);
    });

  for (const commit of ["HEAD", "--upload-pack=x", sha.slice(1), sha.toUpperCase(), `${sha}\n`, "$(id)"])
    it(`no commit is called ${JSON.stringify(commit)}`, () => {
      problemOf("gitea", "push", giteaPush({ after: commit, head_commit: null }));
      problemOf("gitlab", "", gitlabPush({ checkout_sha: commit }));
      problemOf("bitbucket_server", "repo:refs_changed", serverPush({ toHash: commit }));
    });

  for (const address of [
    "ext::sh -c id",
    "file:///etc",
    "-x",
    "--upload-pack=id",
    "https://a b",
    "http://-x",
  ])
    it(`nobody clones ${address}`, () => {
      const repo = { id: 8, clone_url: address };
      assert.match(
        problemOf("gitea", "pull_request", giteaRequest("opened", { head: { ref: "a", sha, repo } })),
        /clone/,
      );
      const source = { git_http_url: address };
      assert.match(problemOf("gitlab", "", gitlabRequest({ source })), /git_http_url/);
    });

  it("the texts of people are lines without control characters, but for messages", () => {
    const wild = "a\u001b[31m\u202eb\n\t<i>c\u0007";
    const user = { login: wild };
    const pull = giteaRequest("opened", { title: wild, user, labels: [{ name: wild }, { name: "\u202e" }] });
    const opened = read("gitea", "pull_request", pull);
    assert.ok(opened.type === "pull_request");
    const { title, author, labels } = opened.request;
    assert.deepEqual([title, author, labels], ["ab<i>c", { username: "ab<i>c" }, ["ab<i>c"]]);
    const author2 = { name: wild, email: wild };
    const pushed = read(
      "github",
      "push",
      giteaPush({ head_commit: { id: sha, message: "a\n\n\tb\0", author: author2 } }),
    );
    assert.ok(pushed.type === "push");
    const [change] = pushed.changes;
    assert.deepEqual([change?.message, change?.author], ["a\n\n\tb", { name: "ab<i>c", email: "ab<i>c" }]);
  });

  for (const [provider, event, body, problem] of [
    ["github", "push", { ref: "refs/heads/main" }, "after is missing: it must be text, the id of the commit"],
    ["github", "push", { after: sha }, "ref is missing: it must be text, the branch or tag"],
    ["github", "push", { ref: 7, after: sha }, "ref must be text, the branch or tag"],
    ["github", "push", null, "The payload must be an object"],
    ["github", "pull_request", { action: "opened" }, "pull_request is missing: it must be an object"],
    ["gitlab", "Push Hook", {}, "The payload does not name the event"],
    ["gitlab", "Push Hook", { object_kind: "push" }, "ref is missing: it must be text, the branch or tag"],
    ["bitbucket", "repo:push", { push: {} }, "push.changes is missing: it must be a list"],
  ] as const)
    it(`${JSON.stringify(body)} of ${provider} says that ${problem}`, () => {
      assert.equal(problemOf(provider, event, body), problem);
    });

  for (const body of [
    null,
    1,
    "x",
    [],
    {},
    { ref: 1 },
    { push: null },
    { object_kind: "push" },
    { pull_request: {} },
  ])
    it(`${JSON.stringify(body)} is a problem, not a fault`, () => {
      problemOf("github", "push", body);
      problemOf("github", "pull_request", body);
      problemOf("gitlab", "", body);
      problemOf("gitea", "push", body);
      problemOf("bitbucket", "repo:push", body);
      problemOf("bitbucket", "pullrequest:created", body);
      problemOf("bitbucket_server", "repo:refs_changed", body);
      problemOf("bitbucket_server", "pr:opened", body);
    });
});
