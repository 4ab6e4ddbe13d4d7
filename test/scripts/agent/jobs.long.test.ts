import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { isAlive, onLinux, type RunningAgent, startAgent } from "./agent.ts";
import { type StandIn, startStandIn } from "./stand-in.ts";

describe("npm run agent -- start, a job", () => {
  let server: StandIn;
  let agent: RunningAgent;
  before(async () => {
    server = await startStandIn();
    agent = startAgent(server, ["--queue", "linux", "--name", "one"], { AGENT_SECRET: "of the agent" });
  });
  after(async () => {
    await agent[Symbol.asyncDispose]();
    await server.close();
  });

  it("passes with the bytes of its output in order", async () => {
    const job = server.offer("printf 'a\\303\\244\\0b'; echo err >&2; printf out; echo last >/dev/stderr");

    const { finished_at: finishedAt, ...finished } = await server.finished(job);

    assert.deepEqual(finished, { exit_status: "0", chunks_failed_count: 0 });
    assert.equal(job.log(), "aä\0berr\noutlast\n");
    assert.match(finishedAt, /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(readdirSync(agent.buildPath), []);
  });

  it("reports an exit status", async () => {
    const job = server.offer("echo seven; exit 7");

    const { exit_status: status, signal } = await server.finished(job);

    assert.deepEqual([status, signal], ["7", undefined]);
  });

  it("stops at the first command that fails", async () => {
    const job = server.offer("false\necho never");

    assert.equal((await server.finished(job)).exit_status, "1");
    assert.equal(job.log(), "");
  });

  it("reports the signal that ended the command", async () => {
    const job = server.offer("kill -KILL $$");

    const { exit_status: status, signal, signal_reason: reason } = await server.finished(job);

    assert.deepEqual([status, signal, reason], ["-1", "SIGKILL", undefined]);
  });

  it("gets of the agent's environment PATH, HOME, LANG and TERM alone", async () => {
    const job = server.offer("env -0", { env: { COLOR: "red\nblue", BUILDKITE_STEP_KEY: "a-step-key" } });

    await server.finished(job);

    const env = Object.fromEntries(
      job
        .log()
        .split("\0")
        .map((line) => [line.replace(/=.*/s, ""), line.replace(/^[^=]*=/s, "")]),
    );
    const byShell = ["PWD", "SHLVL", "_", "OLDPWD", ""];
    const byAgent = [
      "BUILDKITE_AGENT_ACCESS_TOKEN",
      "BUILDKITE_AGENT_ENDPOINT",
      "BUILDKITE_AGENT_PID",
      "BUILDKITE_BIN_PATH",
      "BUILDKITE_BUILD_CHECKOUT_PATH",
      "BUILDKITE_BUILD_PATH",
    ];
    const inherited = ["PATH", "HOME", "LANG", "TERM"].filter((name) => process.env[name] !== undefined);
    assert.deepEqual(
      Object.keys(env)
        .filter((name) => !byShell.includes(name))
        .sort(),
      [...byAgent, ...inherited, ...Object.keys(job.env)].sort(),
    );
    assert.equal(env.COLOR, "red\nblue");
    assert.equal(env.BUILDKITE_STEP_KEY, "a-step-key");
    assert.equal(env.BUILDKITE_AGENT_ENDPOINT, server.endpoint);
    assert.equal(env.BUILDKITE_AGENT_ACCESS_TOKEN, "[REDACTED]");
  });

  it("redacts secrets, also one that is written in two parts", async () => {
    const job = server.offer("printf 'begin hunter2'; sleep 0.5; printf 'hunt end'", {
      env: { MY_SECRET: "hunter2hunt" },
    });

    await server.finished(job);

    assert.equal(job.log(), "begin [REDACTED] end");
  });

  it("ends what the command leaves running, in other process groups too", onLinux, async () => {
    const job = server.offer(
      "sleep 1000 & echo $!; timeout 1000 sleep 999 & echo $!; set -m; (trap '' TERM; sleep 1000) & echo $!",
    );

    assert.equal((await server.finished(job)).exit_status, "0");

    const pids = job.log().trim().split("\n").map(Number);
    assert.deepEqual(pids.map(isAlive), [false, false, false]);
  });

  it("does not wait for a daemon that keeps the output open", onLinux, async () => {
    const job = server.offer(
      "echo begin; setsid sh -c 'echo $$; touch quiet; exec sleep 1000' & until [ -e quiet ]; do sleep 0.1; done",
    );

    assert.equal((await server.finished(job)).exit_status, "0");

    process.kill(Number(job.log().split("\n")[1]), "SIGKILL");
  });

  it("does not read for ever what a daemon prints", onLinux, async () => {
    const job = server.offer(
      "setsid sh -c 'echo $$; touch loud; exec yes' & until [ -e loud ]; do sleep 0.5; done",
    );

    assert.equal((await server.finished(job)).exit_status, "0");

    const pid = Number(job.log().split("\n")[0]);
    assert.ok(pid > 0, job.log().slice(0, 100));
    assert.equal(isAlive(pid), false, "it has lost its output");
  });

  it("says why a command cannot be started", onLinux, async () => {
    const job = server.offer("true", { env: { LARGE: "x".repeat(200_000) } });

    const { exit_status: status, signal_reason: reason } = await server.finished(job);

    assert.deepEqual([status, reason], ["-1", "process_run_error"]);
    assert.match(job.log(), /E2BIG/);
  });

  it("refuses a step without a command, or with plugins", async () => {
    const empty = server.offer(" ");
    const plugin = server.offer("true", { env: { BUILDKITE_PLUGINS: '[{"docker#v1":{}}]' } });

    const results = [await server.finished(empty), await server.finished(plugin)];

    assert.deepEqual(
      results.map(({ exit_status, signal_reason }) => [exit_status, signal_reason]),
      [
        ["-1", "agent_refused"],
        ["-1", "agent_refused"],
      ],
    );
    assert.match(plugin.log(), /plugins/);
  });

  it("reads and writes meta-data, under the prefix of the environment too", async () => {
    const job = server.offer(
      [
        "signalbox-agent meta-data set color red",
        "buildkite-agent meta-data get color",
        "printf '\\nwords' | signalbox-agent meta-data set shape",
        "signalbox-agent meta-data keys",
        "signalbox-agent meta-data get size --default large",
        "signalbox-agent meta-data exists color; echo $?",
        "signalbox-agent meta-data exists size || echo $?",
        "signalbox-agent meta-data get size",
      ].join("\n"),
    );

    assert.equal((await server.finished(job)).exit_status, "1");

    assert.equal(job.log(), "redcolor\nshape\nlarge0\n100\nThe server refused: No such key (404).\n");
    assert.equal(server.metaData.get("shape"), "\nwords");
  });

  it("uploads steps in JSON or YAML", async () => {
    const job = server.offer(
      [
        `echo '{"steps":[{"command":"make"}],"env":{"A":"1"}}' | signalbox-agent pipeline upload -`,
        "printf -- '- command: make\\n- wait\\n' >steps.yml",
        "signalbox-agent pipeline upload steps.yml --replace",
        "printf '{[' >bad.yml",
        "signalbox-agent pipeline upload bad.yml",
      ].join("\n"),
    );

    assert.equal((await server.finished(job)).exit_status, "1");

    const bodies = server.calls(/^POST jobs\/.*\/pipelines\?async=true$/).map(({ json }) => json);
    assert.deepEqual(
      bodies.map(({ uuid, ...body }) => body),
      [
        { pipeline: { steps: [{ command: "make" }], env: { A: "1" } } },
        { pipeline: { steps: [{ command: "make" }, "wait"] }, replace: true },
      ],
    );
    assert.match(job.log(), /^bad\.yml is neither JSON nor YAML: /);
  });

  it("finds the steps that are to be uploaded in the usual places, and asks if there are several", async () => {
    const job = server.offer(
      [
        "signalbox-agent pipeline upload || true",
        "mkdir .buildkite && echo '- command: make' >.buildkite/pipeline.yml",
        "signalbox-agent pipeline upload",
        "echo '- wait' >buildkite.json",
        "signalbox-agent pipeline upload",
      ].join("\n"),
    );

    assert.equal((await server.finished(job)).exit_status, "1");

    const [last] = server.calls(/^POST jobs\/.*\/pipelines\?async=true$/).slice(-1);
    assert.deepEqual(last?.json.pipeline, { steps: [{ command: "make" }] });
    assert.match(
      job.log(),
      /^There is no file of steps here\. It must be one of buildkite\.yml, .*\nThere are several files of steps: buildkite\.json, \.buildkite\/pipeline\.yml\. Name one\.\n$/,
    );
  });

  it("registers with its name and queue, and sends the session's or the job's token", () => {
    const [{ json } = { json: {} }] = server.calls(/^POST register$/);
    const bySession = server.calls(/(connect|ping|accept)$/).map(({ authorization }) => authorization);
    const byJob = server.calls(/(start|finish)$/).map(({ authorization }) => authorization);

    assert.deepEqual([json.name, json.meta_data], ["one", ["queue=linux"]]);
    assert.deepEqual([...new Set(bySession)], ["Token session-1"]);
    assert.ok(byJob.length > 0 && byJob.every((token) => token.startsWith("Token job-token-")));
  });
});
