import assert from "node:assert/strict";
import { it } from "node:test";
import type { GivenSettings } from "../../shared/sources/settings.ts";
import { describeWorld } from "../helpers/databases.ts";
import { githubFork, githubGroup, githubPush, githubRequest } from "./github-payloads.ts";
import { openHostWorld } from "./host-world.ts";
import {
  base,
  bitbucketChange,
  bitbucketPush,
  bitbucketRequest,
  giteaFork,
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

const at = `at ${sha.slice(0, 7)}`;
const tag = { ref: "refs/tags/v1" };
const gone = { after: zeros, deleted: true, head_commit: null };
const forks = { build_pull_request_forks: true };
const short = sha.slice(0, 12);

/** The type of trigger, the event, what is in it, the body, the settings; the outcome. */
const table: [string, string, string, unknown, GivenSettings, string][] = [
  ["github", "push", "a branch", githubPush(), {}, `main ${at}`],
  ["github", "push", "a branch", githubPush(), { build_branches: false }, "builds_of_branches_off"],
  ["github", "push", "a branch", githubPush(), { trigger_mode: "none" }, "event_ignored"],
  ["github", "push", "a tag", githubPush(tag), {}, "builds_of_tags_off"],
  [
    "github",
    "push",
    "an annotated tag",
    githubPush({ ...tag, after: base }),
    { build_tags: true },
    `v1 ${at}`,
  ],
  ["github", "push", "a deleted branch", githubPush(gone), {}, "branch_deleted"],
  ["github", "push", "[skip ci]", githubPush({}, { message: "Typo [skip ci]" }), {}, "skip_ci"],
  ["github", "push", "notes", githubPush({ ref: "refs/notes/commits" }), {}, "event_ignored"],
  [
    "github",
    "push",
    "a branch",
    githubPush(),
    { filter_enabled: true, filter_condition: 'build.branch == "release"' },
    "filter_mismatch",
  ],
  [
    "github",
    "push",
    "a branch",
    githubPush(),
    {
      filter_enabled: true,
      filter_condition: 'build.author.email == "ada@example.com" && build.tag == null',
    },
    `main ${at}`,
  ],
  ["github", "pull_request", "opened", githubRequest("opened"), {}, `faster ${at}`],
  [
    "github",
    "pull_request",
    "opened",
    githubRequest("opened"),
    { build_pull_requests: false },
    "builds_of_pull_requests_off",
  ],
  ["github", "pull_request", "synchronize", githubRequest("synchronize"), {}, "event_ignored"],
  [
    "github",
    "pull_request",
    "synchronize",
    githubRequest("synchronize"),
    { build_branches: false },
    `faster ${at}`,
  ],
  ["github", "pull_request", "labeled", githubRequest("labeled"), {}, "builds_of_pull_requests_off"],
  [
    "github",
    "pull_request",
    "labeled",
    githubRequest("labeled"),
    { build_pull_request_labels_changed: true },
    `faster ${at}`,
  ],
  ["github", "pull_request", "closed", githubRequest("closed", { state: "closed" }), {}, "event_ignored"],
  ["github", "pull_request", "a fork", githubRequest("opened", githubFork), {}, "fork"],
  ["github", "pull_request", "a fork", githubRequest("opened", githubFork), forks, `eve:faster ${at}`],
  [
    "github",
    "pull_request",
    "another branch",
    githubRequest("opened"),
    { pull_request_branch_filter_enabled: true, pull_request_branch_filter_configuration: "release/*" },
    "branch_mismatch",
  ],
  [
    "github",
    "pull_request",
    "a draft",
    githubRequest("opened", { draft: true }),
    { filter_enabled: true, filter_condition: "!build.pull_request.draft" },
    "filter_mismatch",
  ],
  ["github", "merge_group", "a group", githubGroup("checks_requested"), {}, "event_ignored"],
  [
    "github",
    "merge_group",
    "a group",
    githubGroup("checks_requested"),
    { build_merge_group_checks_requested: true },
    `gh-readonly-queue/main/pr-42-6113728 ${at}`,
  ],
  ["github", "ping", "a ping", { zen: "Keep it logically awesome." }, {}, "event_ignored"],
  ["gitlab", "Push Hook", "a branch", gitlabPush(), {}, `main ${at}`],
  [
    "gitlab",
    "Push Hook",
    "a deleted branch",
    gitlabPush({ after: zeros, checkout_sha: null }),
    {},
    "branch_deleted",
  ],
  [
    "gitlab",
    "Tag Push Hook",
    "an annotated tag",
    gitlabPush({ object_kind: "tag_push", ...tag, after: base }),
    { build_tags: true },
    `v1 ${at}`,
  ],
  ["gitlab", "Merge Request Hook", "open", gitlabRequest(), {}, `faster ${at}`],
  [
    "gitlab",
    "Merge Request Hook",
    "update",
    gitlabRequest({ action: "update", oldrev: base }),
    {},
    "event_ignored",
  ],
  ["gitlab", "Merge Request Hook", "a fork", gitlabRequest(gitlabFork), {}, "fork"],
  ["gitlab", "Merge Request Hook", "a fork", gitlabRequest(gitlabFork), forks, `eve:faster ${at}`],
  ["gitlab", "Merge Request Hook", "[ci skip]", gitlabRequest({ title: "[ci skip] x" }), {}, "skip_ci"],
  ["gitlab", "Issue Hook", "an issue", { object_kind: "issue" }, {}, "event_ignored"],
  ["gitea", "push", "a branch", giteaPush(), {}, `main ${at}`],
  ["gitea", "push", "a deleted branch", giteaPush({ after: zeros, head_commit: null }), {}, "branch_deleted"],
  ["gitea", "push", "a tag", giteaPush({ ...tag, after: base }), { build_tags: true }, `v1 ${at}`],
  ["gitea", "pull_request", "opened", giteaRequest("opened"), {}, `faster ${at}`],
  ["gitea", "pull_request", "synchronized", giteaRequest("synchronized"), {}, "event_ignored"],
  ["gitea", "pull_request", "a fork", giteaRequest("opened", giteaFork), {}, "fork"],
  ["gitea", "pull_request", "a fork", giteaRequest("opened", giteaFork), forks, `eve:faster ${at}`],
  ["gitea", "issues", "an issue", { action: "opened" }, {}, "event_ignored"],
  ["bitbucket", "repo:push", "a branch", bitbucketPush(bitbucketChange()), {}, `main ${at}`],
  [
    "bitbucket",
    "repo:push",
    "a deleted branch",
    bitbucketPush(bitbucketChange({ new: null })),
    {},
    "branch_deleted",
  ],
  ["bitbucket", "repo:push", "no change", bitbucketPush(), {}, "event_ignored"],
  ["bitbucket", "pullrequest:created", "a request", bitbucketRequest(), {}, `faster ${at}`],
  ["bitbucket", "pullrequest:created", "a fork", bitbucketRequest({}, "eve/app"), forks, `eve:faster ${at}`],
  ["bitbucket", "issue:created", "an issue", {}, {}, "event_ignored"],
  ["bitbucket", "repo:refs_changed", "a branch of Data Center", serverPush(), {}, `main ${at}`],
  [
    "bitbucket",
    "repo:refs_changed",
    "a deleted branch",
    serverPush({ type: "DELETE", toHash: zeros }),
    {},
    "branch_deleted",
  ],
  ["bitbucket", "pr:opened", "a request of Data Center", serverRequest("pr:opened"), {}, `faster ${at}`],
  ["bitbucket", "pr:opened", "a fork of Data Center", serverRequest("pr:opened", serverFork), {}, "fork"],
  ["bitbucket", "diagnostics:ping", "a ping", { test: true }, {}, "event_ignored"],
  ["github", "", "no event", githubPush(), {}, "event_not_understood"],
  ["bitbucket", "", "no event", bitbucketPush(bitbucketChange()), {}, "event_not_understood"],
  ["gitlab", "", "no event", gitlabPush(), {}, `main ${at}`],
  ["github", "push", "another host's", gitlabPush(), {}, "event_not_understood"],
  ["gitlab", "Push Hook", "another host's", githubPush(), {}, "event_not_understood"],
  ["bitbucket", "push", "another host's", giteaPush(), {}, "event_ignored"],
  ["github", "push", "no members", {}, {}, "event_not_understood"],
  ["github", "push", "a list", [1], {}, "event_not_understood"],
  ["github", "push", "no object", "null", {}, "event_not_understood"],
  ["gitlab", "Push Hook", "no kind", {}, {}, "event_not_understood"],
  ["github", "push", "an option", githubPush({ ref: "refs/heads/-x" }), {}, "event_not_understood"],
  ["github", "push", "two dots", githubPush({ ref: "refs/heads/a..b" }), {}, "event_not_understood"],
  ["github", "push", "a line feed", githubPush({ ref: "refs/heads/a\nb" }), {}, "event_not_understood"],
  [
    "github",
    "push",
    "10 KB",
    githubPush({ ref: `refs/heads/${"a".repeat(10_000)}` }),
    {},
    "event_not_understood",
  ],
  ["github", "push", "no commit", githubPush({ after: "HEAD" }, { id: "HEAD" }), {}, "event_not_understood"],
  [
    "github",
    "pull_request",
    "a number that is too large",
    githubRequest("opened", { number: 2 ** 31 }),
    {},
    "event_not_understood",
  ],
  [
    "github",
    "pull_request",
    "an address of a command",
    githubRequest("opened", { head: { ...githubFork.head, repo: { id: 8, clone_url: "ext::sh -c id" } } }),
    forks,
    "event_not_understood",
  ],
  [
    "github",
    "pull_request",
    "NUL and halves of characters",
    githubRequest("opened", {
      title: "a\0b \ud800",
      user: { login: `x\0${"y".repeat(5000)}` },
      labels: [{ name: "\0\udc00" }],
      html_url: "https://github.com/\ud800",
    }),
    {},
    `faster ${at}`,
  ],
  [
    "bitbucket",
    "pullrequest:created",
    "a short commit",
    bitbucketRequest(),
    {},
    `faster at ${short.slice(0, 7)}`,
  ],
];

describeWorld("what hosts report", openHostWorld, (world) => {
  for (const [type, event, what, body, settings, expected] of table)
    it(`${type} ${event}, ${what}, ${JSON.stringify(settings)}: ${expected}`, async () => {
      const { send } = await world.provider(type, settings);
      assert.equal(await world.outcome(await send(event, body)), expected);
    });

  it("is not built for a branch that the pipeline leaves out, but for requests and tags", async () => {
    const body = { branch_configuration: "release/*" };
    const { send, builds } = await world.provider("github", { build_tags: true }, body);

    assert.equal(await world.outcome(await send("push", githubPush())), "branch_mismatch");
    assert.equal(await world.outcome(await send("push", githubPush(tag))), `v1 ${at}`);
    assert.equal(await world.outcome(await send("pull_request", githubRequest("opened"))), `faster ${at}`);
    assert.equal((await builds()).length, 2);
  });

  it("is not built once the pipeline is archived", async () => {
    const { send, pipeline } = await world.provider("github");
    assert.equal((await world.send("POST", `/pipelines/${pipeline.slug}/archive`)).status, 200);
    assert.equal(await world.outcome(await send("push", githubPush())), "pipeline_archived");
  });

  it("is built while the storage of the organization is full, since hosts do not send again", async () => {
    const { db } = world.world.services;
    const setKept = (keptBytes: number) =>
      db.transaction(async (tx) => void (await tx.update(tx.tables.organizations).set({ keptBytes })));
    const provider = await world.provider("github");
    await setKept(Number.MAX_SAFE_INTEGER);
    const id = await provider.send("push", githubPush());
    assert.equal(await world.outcome(id), `main ${at}`);
    await assert.rejects(world.again(provider, id), /^Refusal: Organization has reached its limit/);
    await setKept(0);
  });

  it("fails once the pipeline is deleted", async () => {
    const { post, pipeline } = await world.provider("github");
    const id = await post("push", githubPush());
    assert.equal((await world.send("DELETE", `/pipelines/${pipeline.slug}`)).status, 204);
    await world.work(id);
    assert.equal(await world.outcome(id), "failed: build_creation_failed");
  });

  it("is not built again while its commit has a build, if the settings say so", async () => {
    const { send } = await world.provider("github", { skip_builds_for_existing_commits: true });
    assert.equal(await world.outcome(await send("push", githubPush())), `main ${at}`);
    assert.equal(
      await world.outcome(await send("push", githubPush({ ref: "refs/heads/other" }))),
      "commit_built",
    );
  });

  it("is a request whose branch has a build, also of a short commit", async () => {
    const github = await world.provider("github");
    assert.equal(
      await world.outcome(await github.send("push", githubPush({ ref: "refs/heads/faster" }))),
      `faster ${at}`,
    );
    assert.equal(
      await world.outcome(await github.send("pull_request", githubRequest("opened"))),
      "commit_built",
    );

    const bitbucket = await world.provider("bitbucket");
    const change = bitbucketChange();
    const pushed = bitbucketPush({ ...change, new: { ...change.new, name: "faster" } });
    assert.equal(await world.outcome(await bitbucket.send("repo:push", pushed)), `faster ${at}`);
    assert.equal(
      await world.outcome(await bitbucket.send("pullrequest:created", bitbucketRequest())),
      "commit_built",
    );
  });

  it("is built although a fork's build has the commit", async () => {
    const settings = {
      ...forks,
      prefix_pull_request_fork_branch_names: false,
      skip_builds_for_existing_commits: true,
    };
    const { send } = await world.provider("github", settings);
    assert.equal(
      await world.outcome(await send("pull_request", githubRequest("opened", githubFork))),
      `faster ${at}`,
    );
    assert.equal(
      await world.outcome(await send("push", githubPush({ ref: "refs/heads/faster" }))),
      `faster ${at}`,
    );
  });
});
