import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../helpers/http.ts";
import { onLinux, startAgent } from "./agent.ts";
import { type StandIn, startStandIn } from "./stand-in.ts";

describe("npm run agent -- start, faults of the server", () => {
  let server: StandIn;
  beforeEach(async () => {
    server = await startStandIn();
  });
  afterEach(() => server.close());

  it("sends start, chunks and finish again after 503", async () => {
    for (const call of [/^PUT .*start$/, /^POST .*chunks/, /^PUT .*finish$/]) server.fail(call, 503, 1);
    await using _agent = startAgent(server);
    const job = server.offer("echo out");

    const { exit_status: status, chunks_failed_count: failed } = await server.finished(job);

    assert.deepEqual([status, failed, job.log()], ["0", 0, "out\n"]);
    assert.equal(server.calls(/^PUT .*start$/).length, 2);
  });

  it("goes on pinging after 503, 429 and a lost connection", async () => {
    server.fail(/^GET ping$/, 503, 1);
    server.fail(/^GET ping$/, 429, 1);
    server.faults.push(({ path }, response) => {
      const isLost = path === "ping" && server.calls(/^GET ping$/).length < 5;
      if (isLost) response.destroy();
      return isLost;
    });
    await using _agent = startAgent(server);

    assert.equal((await server.finished(server.offer("true"))).exit_status, "0");
  });

  it("disconnects and exits with 1 when a ping is answered 401", async () => {
    server.fail(/^GET ping$/, 401);
    await using agent = startAgent(server);

    assert.deepEqual(await agent.ended, [1, null]);
    assert.equal(server.received.at(-1)?.path, "disconnect");
    assert.match(agent.output(), /The server ended this session: as the test wants \(401\)\./);
  });

  it("exits with 1 when the token is refused", async () => {
    await using agent = startAgent(server, ["--token", "wrong"]);

    assert.deepEqual(await agent.ended, [1, null]);
    assert.match(agent.output(), /The server refuses this agent: Unknown token \(401\)\./);
  });

  it("connects once the server answers, and exits with 1 when it refuses", async () => {
    server.fail(/^POST connect$/, 503, 2);
    server.fail(/^POST connect$/, 401);
    await using agent = startAgent(server);

    assert.deepEqual(await agent.ended, [1, null]);
    assert.equal(server.calls(/^POST connect$/).length, 3);
    assert.match(agent.output(), /The server refuses this agent: as the test wants \(401\)\./);
  });

  it("pings on when accept is rejected, and drops a job whose start is refused", async () => {
    server.fail(/accept$/, 409, 1);
    server.fail(/start$/, 422, 1);
    await using _agent = startAgent(server);
    const job = server.offer("true");

    assert.equal((await server.finished(job)).exit_status, "0");
    assert.equal(server.calls(/accept$/).length, 3);
    assert.equal(server.calls(/finish$/).length, 1);
  });

  it("counts the chunks that are refused", async () => {
    server.fail(/chunks/, 422);
    await using _agent = startAgent(server);

    const job = server.offer("echo out");

    assert.equal((await server.finished(job)).chunks_failed_count, 1);
    assert.equal(server.calls(/chunks/).length, 1);
  });

  it("cancels its job and ends when a heartbeat is refused", async () => {
    await server.close();
    server = await startStandIn({ heartbeatSeconds: 1 });
    await using agent = startAgent(server);
    const job = server.offer("sleep 1000");
    await eventually("the start", async () => job.state === "running");

    server.fail(/heartbeat$/, 401);

    assert.deepEqual(await agent.ended, [1, null]);
    assert.equal(job.finished.signal_reason, "agent_stop");
  });

  it("cancels its job when the server does not know it any more", async () => {
    await using _agent = startAgent(server);
    const job = server.offer("sleep 1000");
    await eventually("the start", async () => job.state === "running");

    server.fail(/^GET jobs/, 404);

    assert.equal((await server.finished(job)).signal_reason, "cancel");
  });

  it("runs as many agents as --spawn says", async () => {
    await using agent = startAgent(server, ["--spawn", "3", "--name", "agent-%spawn"]);
    // Each waits for the others: the jobs run side by side.
    const jobs = [1, 2, 3].map((number) =>
      server.offer(
        `touch ../../${number}; until [ -e ../../1 -a -e ../../2 -a -e ../../3 ]; do sleep 0.1; done`,
      ),
    );

    for (const job of jobs) assert.equal((await server.finished(job)).exit_status, "0");
    agent.process.kill("SIGTERM");

    assert.deepEqual(await agent.ended, [0, null]);
    assert.deepEqual(
      [...server.sessions.values()].map(({ name, isGone }) => [name, isGone]).sort(),
      [1, 2, 3].map((number) => [`agent-${number}`, true]),
    );
  });

  it("keeps little in memory when a command prints faster than the server reads", onLinux, async () => {
    const megabytes = 50;
    server.faults.push(async ({ path }) => {
      if (path.includes("chunks")) await sleep(20);
      return false;
    });
    await using agent = startAgent(server);
    const before = server.offer("true");
    await server.finished(before);
    const baseKb = peakKb(agent.process.pid ?? 0);
    const job = server.offer(
      `head -c ${megabytes}000000 /dev/urandom | base64 -w 99 | head -c ${megabytes}000000`,
    );

    await server.finished(job);

    assert.equal(job.logBytes().length, megabytes * 1_000_000);
    const grownMb = (peakKb(agent.process.pid ?? 0) - baseKb) / 1024;
    assert.ok(grownMb < 64, `${grownMb} MB`);
  });
});

/** The most memory that the process has had. */
function peakKb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
