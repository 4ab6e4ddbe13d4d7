import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { isRepository, pathOf, providerIds, providers, readEvent } from "../../shared/sources/providers.ts";
import { describeWorld } from "../helpers/databases.ts";
import { githubGroup, githubPush, githubRequest } from "./github-payloads.ts";
import { openHostWorld, type Provider } from "./host-world.ts";
import {
  bitbucketChange,
  bitbucketPush,
  bitbucketRequest,
  giteaPush,
  giteaRequest,
  gitlabPush,
  gitlabRequest,
  serverPush,
  serverRequest,
  sha,
  zeros,
} from "./payloads.ts";

const at = `at ${sha.slice(0, 7)}`;
const github = { full_name: "acme/app", clone_url: "https://github.com/acme/app.git" };
const ofServer = { slug: "app", project: { key: "ACME" } };

/** A pipeline's address, an event of its repository, and whether they are the same. */
const pairs: [string, string, string, unknown, boolean][] = [
  ["git@github.com:acme/app.git", "github", "push", githubPush(), true],
  ["ssh://git@ssh.github.com:443/Acme/App.git/", "github", "push", githubPush(), true],
  ["https://github.com/acme/app", "github", "push", githubPush(), true],
  ["https://ada:token@github.com/acme/app.git", "github", "push", githubPush(), true],
  ["https://github.com/acme/app2", "github", "push", githubPush(), false],
  ["https://github.com/other/acme/app", "github", "push", githubPush(), false],
  ["https://github.com/acme", "github", "push", githubPush(), false],
  ["https://github.com/", "github", "push", githubPush(), false],
  ["/srv/git/acme/app.git", "github", "push", githubPush(), false],
  [
    "https://github.com/acme/app",
    "github",
    "push",
    githubPush({ repository: { full_name: "acme/app" } }),
    true,
  ],
  [
    "git@github.com:acme/app",
    "github",
    "push",
    githubPush({ repository: { ssh_url: "git@github.com:acme/app.git" } }),
    true,
  ],
  ["git@gitlab.example.com:acme/app.git", "gitlab", "Push Hook", gitlabPush(), true],
  ["ssh://git@altssh.gitlab.com:443/acme/app.git", "gitlab", "Push Hook", gitlabPush(), true],
  ["https://gitlab.example.com/other/acme/app.git", "gitlab", "Push Hook", gitlabPush(), false],
  [
    "https://example.com/gitlab/acme/app.git",
    "gitlab",
    "Push Hook",
    gitlabPush({
      project: {
        path_with_namespace: "acme/app",
        git_http_url: "https://example.com/gitlab/acme/app.git",
        git_ssh_url: "git@example.com:acme/app.git",
      },
    }),
    true,
  ],
  ["https://git.example.com/acme/app.git", "gitea", "push", giteaPush(), true],
  ["ssh://git@git.example.com:2222/acme/app.git", "gitea", "push", giteaPush(), true],
  ["git@bitbucket.org:acme/app.git", "bitbucket", "repo:push", bitbucketPush(bitbucketChange()), true],
  ["https://bitbucket.org/acme/other.git", "bitbucket", "repo:push", bitbucketPush(bitbucketChange()), false],
  ["ssh://git@git.example.com:7999/acme/app.git", "bitbucket", "repo:refs_changed", serverPush(), true],
  ["https://git.example.com/scm/ACME/app.git", "bitbucket", "repo:refs_changed", serverPush(), true],
  ["https://example.com/bitbucket/scm/acme/app.git", "bitbucket", "repo:refs_changed", serverPush(), true],
  ["https://git.example.com/scm/acme/other.git", "bitbucket", "repo:refs_changed", serverPush(), false],
  ["https://git.example.com/scm/acme/app.git", "bitbucket", "pr:opened", serverRequest("pr:opened"), true],
];

describe("the repository of an event", () => {
  for (const [address, type, event, body, expected] of pairs)
    it(`is ${expected ? "" : "not "}${address} for ${type} ${event}`, () => {
      const reading = readEvent(type, event, body);
      if ("problem" in reading) assert.fail(reading.problem);
      assert.equal(isRepository(pathOf(address), reading.repository), expected);
    });

  for (const id of providerIds)
    it(`is named by the sample push of ${id}, with its branch and commit`, () => {
      const { triggerType, samplePush } = providers[id];
      const address = `https://git.example.com/${id === "bitbucket_server" ? "scm/" : ""}acme/app.git`;
      const push = { path: pathOf(address) ?? "", branch: "main", commit: sha, message: "A test push" };

      const { event, body } = samplePush(push);

      const reading = readEvent(triggerType, event, body);
      if ("problem" in reading || reading.happened.type !== "push") assert.fail(JSON.stringify(reading));
      assert.ok(isRepository(push.path, reading.repository));
      const [{ name, commit, message } = {}] = reading.happened.changes;
      assert.deepEqual([name, commit, message], ["main", sha, "A test push"]);
    });

  it("is named by each event that makes builds, else the event is not understood", () => {
    for (const repository of [undefined, null, "acme/app", [], {}, { full_name: 7 }, { full_name: "" }]) {
      const reading = readEvent("github", "push", githubPush({ repository }));
      assert.deepEqual(reading, { problem: "The event does not name its repository" });
    }
    const named = [
      { full_name: "a".repeat(3000), clone_url: github.clone_url },
      { full_name: null, clone_url: github.clone_url, ssh_url: 7 },
    ];
    for (const repository of named) {
      const reading = readEvent("github", "push", githubPush({ repository }));
      assert.ok("repository" in reading);
      assert.deepEqual(reading.repository, [github.clone_url]);
    }
    const { readRepository } = providers.bitbucket_server;
    assert.deepEqual(readRepository({ repository: ofServer }), ["ACME/app", "/scm/ACME/app"]);
    assert.deepEqual(readRepository({ repository: { slug: "app" } }), []);
  });
});

const other = { ...github, full_name: "acme/other", clone_url: "https://github.com/acme/other.git" };
const otherOfGitea = { ...other, clone_url: "https://git.example.com/acme/other.git" };
const otherProject = {
  path_with_namespace: "acme/other",
  git_http_url: "https://gitlab.example.com/acme/other.git",
};
const otherOfServer = { repository: { ...ofServer, slug: "other" } };

/** Events of another repository, which the pipeline would build. */
const table: [string, string, unknown][] = [
  ["github", "push", githubPush({ repository: other })],
  ["github", "push", githubPush({ repository: other, after: zeros, deleted: true, head_commit: null })],
  ["github", "pull_request", githubRequest("opened", {}, { repository: other })],
  ["github", "merge_group", { ...githubGroup("checks_requested"), repository: other }],
  ["github", "merge_group", { ...githubGroup("destroyed"), repository: other }],
  ["gitlab", "Push Hook", gitlabPush({ project: otherProject })],
  ["gitlab", "Tag Push Hook", gitlabPush({ object_kind: "tag_push", project: otherProject })],
  ["gitlab", "Merge Request Hook", gitlabRequest({}, { project: otherProject })],
  ["gitea", "push", giteaPush({ repository: otherOfGitea })],
  ["gitea", "pull_request", giteaRequest("opened", {}, { repository: otherOfGitea })],
  ["gitea", "delete", { ref: "main", ref_type: "branch", repository: otherOfGitea }],
  [
    "bitbucket",
    "repo:push",
    { ...bitbucketPush(bitbucketChange()), repository: { full_name: "acme/other" } },
  ],
  ["bitbucket", "pullrequest:created", { ...bitbucketRequest(), repository: { full_name: "acme/other" } }],
  ["bitbucket", "repo:refs_changed", serverPush({}, otherOfServer)],
  [
    "bitbucket",
    "pr:opened",
    serverRequest("pr:opened", {
      toRef: { ...serverRequest("").pullRequest.toRef, repository: { ...otherOfServer.repository, id: 1 } },
    }),
  ],
];

describeWorld("events of another repository", openHostWorld, (world) => {
  for (const [type, event, body] of table)
    it(`make no builds: ${type} ${event}`, async () => {
      const { send, builds, openRequests } = await world.provider(type, {
        build_tags: true,
        build_merge_group_checks_requested: true,
        cancel_deleted_branch_builds: true,
      });
      assert.equal(await world.outcome(await send(event, body)), "other_repository");
      assert.deepEqual([await builds(), await openRequests()], [[], []]);
    });

  it("cancel no builds of a branch of the same name", async () => {
    const { send, builds } = await world.provider("github", { cancel_deleted_branch_builds: true });
    await send("push", githubPush());
    const gone = { after: zeros, deleted: true, head_commit: null };
    await send("push", githubPush({ ...gone, repository: other }));
    assert.deepEqual(
      (await builds()).map(({ state }) => state),
      ["scheduled"],
    );
  });

  it("say so as pings do not", async () => {
    const { send } = await world.provider("github");
    for (const event of ["ping", "star"])
      assert.equal(await world.outcome(await send(event, { repository: other })), "event_ignored");
  });

  it("are built again once the pipeline has the new name of its repository", async () => {
    const provider = await world.provider("github");
    const id = await provider.send("push", githubPush({ repository: other }));
    await assert.rejects(world.again(provider, id), {
      message: "The delivery makes no build: it is about another repository than the pipeline’s",
    });
    await move(provider, other.clone_url);
    const { branch, commit } = await world.again(provider, id);
    assert.equal(`${branch} at ${commit.slice(0, 7)}`, `main ${at}`);
  });

  it("are built by no pipeline without a repository", async () => {
    const provider = await world.provider("github");
    await move(provider, null);
    assert.equal(await world.outcome(await provider.send("push", githubPush())), "other_repository");
  });

  async function move({ pipeline: { id } }: Provider, repository: string | null) {
    const { pipelines } = world.world.services.db.tables;
    await world.world.services.db.transaction((tx) =>
      tx.update(pipelines).set({ repository }).where(eq(pipelines.id, id)),
    );
  }
});
