import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../helpers/http.ts";
import { isAlive, onLinux, startAgent } from "./agent.ts";
import { type StandIn, type StandInJob, startStandIn } from "./stand-in.ts";

/** Prints the ids of processes that ignore SIGTERM, one of them in a process group of its own. */
const stubborn = "trap '' TERM; echo $$; set -m; (trap '' TERM; while :; do sleep 1; done) & echo $!; wait";

async function pidsOf(job: StandInJob, count: number): Promise<number[]> {
  const pids = () => job.log().split("\n").slice(0, -1).map(Number);
  await eventually("the ids of the processes", async () => pids().length >= count);
  return pids();
}

describe("npm run agent -- start, the end", () => {
  let server: StandIn;
  before(async () => {
    server = await startStandIn();
  });
  after(() => server.close());

  it("cancels a command with SIGTERM", async () => {
    await using _agent = startAgent(server);
    const job = server.offer("trap 'echo bye; exit 3' TERM; echo $$; while :; do sleep 0.1; done");
    await pidsOf(job, 1);

    job.state = "canceling";

    const { exit_status: status, signal_reason: reason } = await server.finished(job);
    assert.deepEqual([status, reason], ["3", "cancel"]);
    assert.match(job.log(), /bye\n$/);
  });

  it("cancels a command that ignores SIGTERM with SIGKILL, after its time too", onLinux, async () => {
    await using _agent = startAgent(server);
    const job = server.offer(stubborn);
    const pids = await pidsOf(job, 2);

    job.state = "timed_out";

    const { exit_status: status, signal, signal_reason: reason } = await server.finished(job);
    assert.deepEqual([status, signal, reason], ["-1", "SIGKILL", "cancel"]);
    assert.deepEqual(pids.map(isAlive), [false, false]);
  });

  it("leaves no process and no folder when the agent is killed", onLinux, async () => {
    await using agent = startAgent(server);
    const job = server.offer(stubborn);
    const pids = await pidsOf(job, 2);
    assert.equal(readdirSync(agent.buildPath).length, 1);

    await agent.kill("SIGKILL");

    await eventually("the end of the processes", async () => !pids.some(isAlive));
    await eventually("the folder's removal", async () => readdirSync(agent.buildPath).length === 0);
  });

  it("finishes its job on SIGTERM, then disconnects", async () => {
    await using agent = startAgent(server);
    const job = server.offer("echo $$; sleep 2; echo done");
    await pidsOf(job, 1);

    agent.process.kill("SIGTERM");

    assert.deepEqual(await agent.ended, [0, null]);
    assert.equal(job.finished.exit_status, "0");
    assert.match(job.log(), /done/);
    assert.match(agent.output(), /Disconnected\./);
    assert.equal(server.received.at(-1)?.path, "disconnect");
  });

  it("cancels its job on a second SIGTERM", async () => {
    await using agent = startAgent(server);
    const job = server.offer("echo $$; sleep 1000");
    await pidsOf(job, 1);

    agent.process.kill("SIGTERM");
    await eventually("the first signal", async () => agent.output().includes("Stopping after"));
    await sleep(500); // a repetition soon after the first does not count
    agent.process.kill("SIGTERM");

    assert.deepEqual(await agent.ended, [0, null]);
    assert.equal(job.finished.signal_reason, "agent_stop");
  });

  it("ends at once on SIGTERM while it has no job", async () => {
    await using agent = startAgent(server);
    await eventually("a ping", async () => agent.output().includes("Connected"));

    agent.process.kill("SIGTERM");

    assert.deepEqual(await agent.ended, [0, null]);
  });

  it("ends when the server disconnects it", async () => {
    await using agent = startAgent(server);
    server.setAction("disconnect");

    assert.deepEqual(await agent.ended, [0, null]);
    server.setAction("idle");
  });

  it("ends after one job with --disconnect-after-job", async () => {
    const job = server.offer("true");
    await using agent = startAgent(server, ["--disconnect-after-job"]);

    assert.deepEqual(await agent.ended, [0, null]);
    assert.equal(job.finished.ignore_agent_in_dispatches, true);
  });
});
