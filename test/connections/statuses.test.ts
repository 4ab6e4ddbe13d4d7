import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type CommitStatus,
  type StatusState,
  statusRequests,
} from "../../shared/connections/hosts/statuses.ts";
import type { ConnectionType } from "../../shared/connections/types.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const status: CommitStatus = {
  commit,
  context: "signalbox/web",
  state: "passed",
  description: "Build #7 passed",
  url: "https://ci.example.com/b/7",
};

const ofGithub = {
  path: `/repos/acme/app/statuses/${commit}`,
  body: { context: "signalbox/web", description: "Build #7 passed", target_url: status.url },
  states: ["pending", "pending", "success", "failure", "failure"],
};
const ofGitlab = {
  path: `/projects/acme%2Fapp/statuses/${commit}`,
  body: { name: "signalbox/web", description: "Build #7 passed", target_url: status.url },
  states: ["pending", "running", "success", "failed", "canceled"],
};
const bitbucketBody = {
  key: "signalbox/web",
  name: "signalbox/web",
  description: "Build #7 passed",
  url: status.url,
};

const expected: Record<ConnectionType, { path: string; body: object; states: string[] }> = {
  github: ofGithub,
  github_enterprise: ofGithub,
  gitlab: ofGitlab,
  gitlab_self_managed: ofGitlab,
  gitea: ofGithub,
  bitbucket: {
    path: `/repositories/acme/app/commit/${commit}/statuses/build`,
    body: bitbucketBody,
    states: ["INPROGRESS", "INPROGRESS", "SUCCESSFUL", "FAILED", "STOPPED"],
  },
  bitbucket_server: {
    path: `/build-status/1.0/commits/${commit}`,
    body: bitbucketBody,
    states: ["INPROGRESS", "INPROGRESS", "SUCCESSFUL", "FAILED", "FAILED"],
  },
};
const states: StatusState[] = ["waiting", "running", "passed", "failed", "canceled"];

describe("the status of a commit", () => {
  for (const [type, { path, body, states: words }] of Object.entries(expected)) {
    const request = statusRequests[type as ConnectionType];
    const repository = type.startsWith("gitlab") ? "acme%2Fapp" : "acme/app";
    for (const [index, state] of states.entries())
      it(`of ${type}: ${state}`, () => {
        assert.deepEqual(request(repository, { ...status, state }), {
          method: "POST",
          path,
          body: { ...body, state: words[index] },
        });
      });

    it(`of ${type}: has texts as long as it takes`, () => {
      const long = request(repository, {
        ...status,
        description: "d".repeat(1000),
        context: "c".repeat(1000),
      });
      const { description, key = "" } = long.body as { description: string; key?: string };
      assert.ok(description.length <= (type.startsWith("git") && !type.startsWith("gitlab") ? 140 : 255));
      assert.ok(key.length <= (type === "bitbucket" ? 40 : 255));
    });
  }

  it("has keys that differ where long contexts differ", () => {
    const keyOf = (context: string) =>
      (statusRequests.bitbucket("acme/app", { ...status, context }).body as { key: string }).key;
    assert.notEqual(keyOf(`${"c".repeat(50)}1`), keyOf(`${"c".repeat(50)}2`));
    assert.equal(keyOf(`${"c".repeat(50)}1`), keyOf(`${"c".repeat(50)}1`));
  });
});
