import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asksToSkip, type Decision, decide, type Known } from "../../shared/sources/decide.ts";
import type { Happened, PullRequest, RefChange, RequestAction } from "../../shared/sources/happened.ts";
import { hostOf, pathOf, providerOf } from "../../shared/sources/providers.ts";
import {
  type GivenSettings,
  settingsProblems,
  shownSettings,
  withDefaults,
} from "../../shared/sources/settings.ts";
import { sha } from "./payloads.ts";

const change: RefChange = {
  type: "branch",
  name: "main",
  commit: sha,
  message: "Faster",
  author: null,
  url: null,
};
const push = (given: Partial<RefChange> = {}): Happened => ({
  type: "push",
  changes: [{ ...change, ...given }],
});

const pullRequest: PullRequest = {
  number: 42,
  title: "Faster",
  url: null,
  author: null,
  branch: "faster",
  commit: sha,
  baseBranch: "main",
  repository: "https://example.com/acme/app.git",
  isFork: false,
  forkOwner: null,
  isDraft: false,
  isClosed: false,
  labels: [],
  refspec: null,
};
const request = (action: RequestAction, given: Partial<PullRequest> = {}): Happened => ({
  type: "pull_request",
  action,
  request: { ...pullRequest, ...given },
  label: null,
  isPushedToo: !given.isFork,
});
const fork = { isFork: true, forkOwner: "eve", repository: "https://example.com/eve/app.git" };

const group = {
  branch: "gh-readonly-queue/main/pr-1",
  commit: sha,
  baseBranch: "main",
  baseCommit: sha,
  message: "Merge",
  author: null,
};
const mergeGroup = (action: "checks_requested" | "destroyed"): Happened => ({
  type: "merge_group",
  action,
  group,
});

async function decideOne(
  happened: Happened,
  settings: GivenSettings = {},
  known: Partial<Known> = {},
): Promise<Decision> {
  const [decision, ...others] = await decide(happened, { ...knownOf(settings), ...known });
  assert.ok(decision && others.length === 0);
  return decision;
}

const built = (known: { commit: string; branch?: string }) => known.commit === sha;
const builtOnBranch = ({ branch }: { branch?: string }) => branch === "faster";
const forks = { build_pull_request_forks: true };
const filterOn = { filter_enabled: true, filter_condition: "false" };
const no = () => false;

/** The event, the settings, what is known; the reason, or the branch of the build. */
const cases: [string, Happened, GivenSettings, Partial<Known>, string][] = [
  ["a push", push(), {}, {}, "builds main"],
  ["a push while the provider is off", push(), { trigger_mode: "none" }, {}, "event_ignored"],
  ["a push while branches are off", push(), { build_branches: false }, {}, "builds_of_branches_off"],
  ["a deleted branch", push({ commit: null }), {}, {}, "branch_deleted"],
  [
    "a deleted branch whose builds end",
    push({ commit: null }),
    { cancel_deleted_branch_builds: true },
    {},
    "branch_deleted, cancels main",
  ],
  [
    "a deleted tag",
    push({ type: "tag", commit: null }),
    { cancel_deleted_branch_builds: true },
    {},
    "branch_deleted",
  ],
  ["a tag", push({ type: "tag", name: "v1" }), {}, {}, "builds_of_tags_off"],
  [
    "a tag that is wanted",
    push({ type: "tag", name: "v1" }),
    { build_tags: true },
    { buildsBranch: no },
    "builds v1",
  ],
  ["a push that skips", push({ message: "Typo [skip ci]" }), {}, {}, "skip_ci"],
  ["a push of another branch", push(), {}, { buildsBranch: no }, "branch_mismatch"],
  ["a push that the filter leaves out", push(), filterOn, { passesFilter: no }, "filter_mismatch"],
  ["a push while the filter is off", push(), {}, { passesFilter: no }, "builds main"],
  ["a push of a built commit", push(), {}, { hasBuild: built }, "builds main"],
  [
    "a push of a built commit that is skipped",
    push(),
    { skip_builds_for_existing_commits: true },
    { hasBuild: built },
    "commit_built",
  ],
  ["skip_ci before branch_mismatch", push({ message: "[ci skip]" }), {}, { buildsBranch: no }, "skip_ci"],
  [
    "branch_mismatch before filter_mismatch",
    push(),
    filterOn,
    { buildsBranch: no, passesFilter: no },
    "branch_mismatch",
  ],
  ["a push of the merge queue", push({ name: group.branch }), {}, {}, `builds ${group.branch}`],
  [
    "a push of the merge queue whose groups are built",
    push({ name: group.branch }),
    { build_merge_group_checks_requested: true },
    {},
    "builds_of_branches_off",
  ],
  ["an opened request", request("opened"), {}, {}, "builds faster"],
  [
    "an opened request while requests are off",
    request("opened"),
    { build_pull_requests: false },
    {},
    "builds_of_pull_requests_off",
  ],
  [
    "an opened request whose branch has a build",
    request("opened"),
    {},
    { hasBuild: builtOnBranch },
    "commit_built",
  ],
  [
    "an opened request that is built again",
    request("opened"),
    { skip_pull_request_builds_for_existing_commits: false },
    { hasBuild: builtOnBranch },
    "builds faster",
  ],
  ["new commits, whose push is built", request("new_commits"), {}, {}, "event_ignored"],
  [
    "new commits, whose push is not built",
    request("new_commits"),
    { build_branches: false },
    {},
    "builds faster",
  ],
  ["new commits of a fork", request("new_commits", fork), forks, {}, "builds eve:faster"],
  ["a fork", request("opened", fork), {}, {}, "fork"],
  ["a fork that is wanted", request("opened", fork), forks, {}, "builds eve:faster"],
  [
    "a fork by its own name",
    request("opened", fork),
    { ...forks, prefix_pull_request_fork_branch_names: false },
    {},
    "builds faster",
  ],
  ["a head that is gone", request("opened", { ...fork, forkOwner: null, repository: null }), {}, {}, "fork"],
  ["a title that skips", request("opened", { title: "[ci-skip] x" }), {}, {}, "skip_ci"],
  [
    "a request of the default branch",
    request("opened", { branch: "main" }),
    { ignore_default_branch_pull_requests: true },
    {},
    "builds_of_pull_requests_off",
  ],
  [
    "a fork's default branch",
    request("opened", { ...fork, branch: "main" }),
    { ...forks, ignore_default_branch_pull_requests: true },
    {},
    "builds eve:main",
  ],
  [
    "another branch of requests",
    request("opened"),
    { pull_request_branch_filter_enabled: true },
    { matchesRequestFilter: no },
    "branch_mismatch",
  ],
  [
    "a branch that only pushes leave out",
    request("opened"),
    {},
    { buildsBranch: no, matchesRequestFilter: no },
    "builds faster",
  ],
  [
    "a request that the filter leaves out",
    request("opened"),
    filterOn,
    { passesFilter: no },
    "filter_mismatch",
  ],
  ["a closed request", request("closed", { isClosed: true }), {}, {}, "event_ignored"],
  [
    "a label on a closed request",
    request("labels_changed", { isClosed: true }),
    { build_pull_request_labels_changed: true },
    {},
    "event_ignored",
  ],
  [
    "a label on a closed request that is wanted",
    request("labels_changed", { isClosed: true }),
    { build_pull_request_labels_changed: true, skip_builds_for_closed_pull_requests: false },
    {},
    "builds faster",
  ],
  ["another action", request("other"), {}, {}, "event_ignored"],
  ["a merge group", mergeGroup("checks_requested"), {}, {}, "event_ignored"],
  [
    "a merge group that is wanted",
    mergeGroup("checks_requested"),
    { build_merge_group_checks_requested: true },
    { buildsBranch: no },
    `builds ${group.branch}`,
  ],
  ["a destroyed merge group", mergeGroup("destroyed"), {}, {}, "event_ignored"],
  [
    "a destroyed merge group whose builds end",
    mergeGroup("destroyed"),
    { cancel_when_merge_group_destroyed: true },
    {},
    `event_ignored, cancels ${group.branch}`,
  ],
  ["another event", { type: "other" }, {}, {}, "event_ignored"],
];

const finer: [RequestAction, GivenSettings][] = [
  ["base_changed", { build_pull_request_base_branch_changed: true }],
  ["edited", { build_pull_request_edited: true }],
  ["labels_changed", { build_pull_request_labels_changed: true }],
  ["reopened", { build_pull_request_reopened: true }],
  ["ready_for_review", { build_pull_request_ready_for_review: true }],
  ["converted_to_draft", { build_pull_request_converted_to_draft: true }],
  ["review_requested", { build_pull_request_review_requested: true }],
  ["review_submitted", { build_pull_request_review_submitted: true }],
  ["review_dismissed", { build_pull_request_review_dismissed: true }],
  ["dequeued", { build_pull_request_dequeued: true }],
];

function said(decision: Decision): string {
  if ("build" in decision) return `builds ${decision.build.branch}`;
  return decision.cancelBranch ? `${decision.reason}, cancels ${decision.cancelBranch}` : decision.reason;
}

describe("the decision", () => {
  for (const [what, happened, settings, known, expected] of cases)
    it(`${what}: ${expected}`, async () =>
      assert.equal(said(await decideOne(happened, settings, known)), expected));

  for (const [action, settings] of finer)
    it(`${action} needs its setting`, async () => {
      assert.equal(said(await decideOne(request(action))), "builds_of_pull_requests_off");
      assert.equal(said(await decideOne(request(action), settings)), "builds faster");
      const off = { ...settings, build_pull_requests: false };
      assert.equal(said(await decideOne(request(action), off)), "builds_of_pull_requests_off");
    });

  it("builds an action anew though its commit has a build", async () =>
    assert.equal(
      said(
        await decideOne(
          request("labels_changed"),
          { build_pull_request_labels_changed: true },
          { hasBuild: builtOnBranch },
        ),
      ),
      "builds faster",
    ));

  it("gives a push the facts of the branch's open request, with its own commit", async () => {
    const older = { ...pullRequest, commit: "0".repeat(40) };
    const decision = await decideOne(push({ name: "faster" }), {}, { openRequestOf: () => older });
    assert.ok("build" in decision);
    assert.deepEqual(decision.build.pullRequest, pullRequest);
  });

  it("marks the builds of forks", async () => {
    const decision = await decideOne(request("opened", fork), forks);
    assert.ok("build" in decision && decision.build.isFork);
  });

  it("decides each change of a push", async () => {
    const decisions = await decide(
      { type: "push", changes: [change, { ...change, commit: null }] },
      { ...knownOf({}), hasBuild: no },
    );
    assert.deepEqual(decisions.map(said), ["builds main", "branch_deleted"]);
  });

  it("passes messages, filters and earlier builds over for a member", async () => {
    const known = { isAsked: true, passesFilter: no, hasBuild: built };
    const settings = { ...filterOn, skip_builds_for_existing_commits: true };
    assert.equal(said(await decideOne(push({ message: "[skip ci]" }), settings, known)), "builds main");
    assert.equal(
      said(await decideOne(request("opened", { title: "[skip ci]" }), settings, known)),
      "builds faster",
    );
    assert.equal(said(await decideOne(request("opened", fork), settings, known)), "fork");
    assert.equal(said(await decideOne(push(), { build_branches: false }, known)), "builds_of_branches_off");
  });

  it("leaves out owners of forks that no branch may have", async () => {
    for (const forkOwner of ["-x", "a\nb", "a b", "..", "x".repeat(200)]) {
      const decision = await decideOne(request("opened", { ...fork, forkOwner }), forks);
      assert.equal(said(decision), "builds unknown:faster");
    }
  });

  it("knows how commits ask to be skipped", () => {
    for (const text of ["[skip ci]", "x [CI SKIP] y", "[skip-ci]", "a\n\n[ci-skip]"])
      assert.ok(asksToSkip(text), text);
    for (const text of ["skip ci", "[skip]", "[ skip ci ]", "[skipci]"]) assert.ok(!asksToSkip(text), text);
  });
});

function knownOf(settings: GivenSettings): Known {
  return {
    settings: withDefaults(settings),
    defaultBranch: "main",
    buildsBranch: () => true,
    matchesRequestFilter: () => true,
    passesFilter: () => true,
    hasBuild: () => false,
    openRequestOf: () => undefined,
  };
}

describe("the provider of a repository", () => {
  const addresses: [string, string | undefined, string | undefined][] = [
    ["git@github.com:acme/app.git", "github.com", "acme/app"],
    ["github.com:acme/app", "github.com", "acme/app"],
    ["https://GitHub.com/acme/app.git", "github.com", "acme/app"],
    ["https://user:pass@github.com:443/acme/app/", "github.com", "acme/app"],
    ["ssh://git@git.example.com:7999/acme/app.git", "git.example.com", "acme/app"],
    ["https://gitlab.com/acme/group/app.git", "gitlab.com", "acme/group/app"],
    ["/srv/git/app.git", undefined, undefined],
  ];
  for (const [address, host, path] of addresses)
    it(`${address} is at ${host}`, () => assert.deepEqual([hostOf(address), pathOf(address)], [host, path]));

  it("is found by the host, public or connected", () => {
    assert.equal(providerOf("git@github.com:acme/app.git"), "github");
    assert.equal(providerOf("https://codeberg.org/acme/app"), "gitea");
    assert.equal(providerOf("https://git.example.com/acme/app"), null);
    assert.equal(
      providerOf("https://git.example.com/a/b", new Map([["git.example.com", "gitlab_ee"]])),
      "gitlab_ee",
    );
    assert.equal(providerOf("https://github.com.example.com/a/b"), null);
    assert.equal(providerOf(null), null);
  });
});

describe("provider settings", () => {
  it("have the documented defaults", () => {
    const on = Object.entries(withDefaults({})).filter(([, value]) => value === true);
    assert.deepEqual(
      on.map(([name]) => name),
      [
        "build_branches",
        "build_pull_requests",
        "prefix_pull_request_fork_branch_names",
        "skip_pull_request_builds_for_existing_commits",
        "skip_builds_for_closed_pull_requests",
        "publish_commit_status",
      ],
    );
  });

  it("are shown for their provider", () => {
    assert.ok("build_merge_group_checks_requested" in shownSettings("github", {}));
    assert.ok(!("build_merge_group_checks_requested" in shownSettings("gitlab", {})));
    assert.equal(shownSettings("gitlab", { build_tags: true }).build_tags, true);
  });

  it("refuse what they cannot do, with the reason", () => {
    assert.deepEqual(
      settingsProblems("github", { build_tags: true, trigger_mode: "none", repository: "a/b" }),
      [],
    );
    assert.deepEqual(settingsProblems("github", { build_release_published: false }), []);
    assert.deepEqual(settingsProblems("github", { build_release_published: true }), [
      "Builds of releases are not available",
    ]);
    assert.deepEqual(settingsProblems("gitlab", { build_merge_group_checks_requested: false }), []);
    assert.deepEqual(settingsProblems("gitlab", { build_merge_group_checks_requested: true }), [
      "Build merge group checks requested is not available for this provider",
    ]);
    assert.deepEqual(settingsProblems("github", { build_moon: true }), [
      "Provider settings has no member named build_moon",
    ]);
  });
});
