import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type RunningAgent, startAgent } from "./agent.ts";
import { type StandIn, startStandIn } from "./stand-in.ts";

describe("npm run agent -- start, a job with a repository", () => {
  let server: StandIn;
  let agent: RunningAgent;
  let repository: string;
  const git = (...args: string[]) =>
    execFileSync(
      "git",
      ["-C", repository, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args],
      {
        encoding: "utf8",
      },
    ).trim();
  const commit = (message: string) => {
    git("commit", "--quiet", "--allow-empty", "--message", message);
    return git("rev-parse", "HEAD");
  };
  const offer = (command: string, variables: Record<string, string>) =>
    server.offer(command, {
      env: { BUILDKITE_REPO: repository, BUILDKITE_SKIP_CHECKOUT: "false", ...variables },
    });

  before(async () => {
    server = await startStandIn();
    agent = startAgent(server);
    repository = mkdtempSync(join(tmpdir(), "agent-repository-"));
    git("init", "--quiet", "--initial-branch", "main");
    commit("first");
  });
  after(async () => {
    await agent[Symbol.asyncDispose]();
    await server.close();
    rmSync(repository, { recursive: true, force: true });
  });

  it("checks the head of the branch out and reports the commit", async () => {
    git("checkout", "--quiet", "-b", "side");
    const sha = commit("a subject");
    git("checkout", "--quiet", "main");

    const job = offer("git rev-parse HEAD", { BUILDKITE_BRANCH: "side" });

    assert.equal((await server.finished(job)).exit_status, "0");
    assert.ok(job.log().endsWith(`\n${sha}\n`));
    assert.equal(
      server.metaData.get("buildkite:git:commit"),
      `commit ${sha}\nabbrev-commit ${git("rev-parse", "--short", sha)}\nAuthor: Ada <ada@example.com>\n\n    a subject`,
    );
  });

  it("checks a commit out, and reports none if another job did", async () => {
    const sha = git("rev-parse", "HEAD");
    commit("second");

    const job = offer("git rev-parse HEAD", { BUILDKITE_COMMIT: sha });

    assert.equal((await server.finished(job)).exit_status, "0");
    assert.ok(job.log().endsWith(`\n${sha}\n`));
    assert.equal(server.calls(/data\/set$/).length, 1);
  });

  it("checks the head of a pull request out, which no branch has", async () => {
    git("checkout", "--quiet", "--detach");
    const sha = commit("of a fork");
    git("checkout", "--quiet", "main");
    git("update-ref", "refs/pull/7/head", sha);
    git("update-ref", "refs/merge-requests/8/head", sha);
    const ofGithub = { BUILDKITE_PIPELINE_PROVIDER: "github", BUILDKITE_PULL_REQUEST: "7" };
    const ofGitlab = { BUILDKITE_PULL_REQUEST: "8", BUILDKITE_REFSPEC: "refs/merge-requests/8/head" };

    for (const variables of [ofGithub, ofGitlab])
      for (const BUILDKITE_COMMIT of [sha, "HEAD"]) {
        const job = offer("git rev-parse HEAD", { ...variables, BUILDKITE_COMMIT });
        assert.equal((await server.finished(job)).exit_status, "0");
        assert.ok(job.log().endsWith(`\n${sha}\n`), job.log());
      }
    const missing = offer("true", { ...ofGithub, BUILDKITE_PULL_REQUEST: "9", BUILDKITE_COMMIT: sha });
    assert.notEqual((await server.finished(missing)).exit_status, "0");
  });

  it("takes no option from a branch or commit", async () => {
    const jobs = [
      offer("true", { BUILDKITE_BRANCH: "--upload-pack=touch /tmp/agent-test-evil" }),
      offer("true", { BUILDKITE_COMMIT: "--orphan=x" }),
    ];

    for (const job of jobs) assert.notEqual((await server.finished(job)).exit_status, "0");
    assert.match(jobs[0]?.log() ?? "", /invalid refspec|couldn't find remote ref/);
  });

  it("leaves submodules out, and reports no commit that is resolved, if the variables say so", async () => {
    git("checkout", "--quiet", "-b", "with-submodule");
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository, "inner");
    const sha = commit("a submodule");
    git("checkout", "--quiet", "main");
    const sets = server.calls(/data\/set$/).length;

    const job = offer("ls -A inner | wc -l", {
      BUILDKITE_COMMIT: sha,
      BUILDKITE_COMMIT_RESOLVED: "true",
      BUILDKITE_GIT_SUBMODULES: "false",
    });

    assert.equal((await server.finished(job)).exit_status, "0");
    assert.match(job.log(), /\n\s*0\n$/);
    assert.equal(server.calls(/data\/set$/).length, sets);
  });

  it("fails after three attempts", async () => {
    const job = offer("echo never", { BUILDKITE_REPO: join(repository, "missing") });

    assert.equal((await server.finished(job)).exit_status, "128");
    assert.equal(job.log().match(/does not exist/g)?.length, 3);
  });
});
