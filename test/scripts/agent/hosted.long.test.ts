import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { architecture } from "../../../scripts/agent/wire/client.ts";
import { eventually } from "../../helpers/http.ts";
import { startProgram } from "./agent.ts";
import { apiToken, type StandIn, startStandIn } from "./stand-in.ts";

const machineType = process.platform === "darwin" ? "macos" : "linux";
const fitting = { name: "FITTING", machine_type: machineType, architecture, cpu: 1, memory: 1 };
const queue = (key: string, shape: object, image: string | null = null) => ({
  id: `id-of-${key}`,
  key,
  hosted_agents: {
    instance_shape: { ...fitting, ...shape },
    platform_settings: { linux: { agent_image_ref: image } },
  },
});

describe("npm run agent -- hosted", () => {
  let server: StandIn;
  beforeEach(async () => {
    server = await startStandIn();
  });
  afterEach(() => server.close());

  const start = (...args: string[]) => startProgram(server, ["hosted", "--api-token", apiToken, ...args]);

  it("runs each job of a hosted queue by an agent of its own", async () => {
    server.queues.push(queue("small", {}), { id: "other", key: "self-hosted" });
    await using agent = start();

    const jobs = [server.offer("true"), server.offer("true")];
    for (const job of jobs) assert.equal((await server.finished(job)).exit_status, "0");
    await eventually("a third agent", async () => server.sessions.size === 3);
    agent.process.kill("SIGTERM");

    assert.deepEqual(await agent.ended, [0, null]);
    const tags = server.calls(/^POST register$/).map(({ json }) => json.meta_data);
    assert.deepEqual(tags, Array(3).fill(["queue=small", "instance_shape=FITTING"]));
    assert.ok(jobs.every(({ finished }) => finished.ignore_agent_in_dispatches));
  });

  it("has a paused agent that says why a queue is not served", async () => {
    server.queues.push(
      queue("mac", { machine_type: "plan9" }),
      queue("image", {}, "example.com/image:1"),
      queue("large", { cpu: 4096, memory: 16384 }),
    );
    await using agent = start();
    const job = server.offer("true");

    await eventually("the pauses", async () => server.calls(/^POST pause$/).length === 3);
    await eventually("pings", async () => server.calls(/^GET ping$/).length >= 6);

    const notes = server.calls(/^POST pause$/).map(({ json }) => json.note);
    assert.deepEqual(
      notes.map((note: string) => note.replace(/ and \d+\.$/, " and N.")).sort(),
      [
        "The queue needs the image example.com/image:1, and this machine runs no images.",
        `The queue needs 4096 CPUs and 16384 GB, and this machine has ${availableParallelism()} and N.`,
        `The queue needs plan9 on ${architecture}, and this machine is ${machineType} on ${architecture}.`,
      ].sort(),
    );
    assert.ok(server.calls(/^POST register$/).every(({ json }) => json.ignore_in_dispatches));
    assert.equal(job.state, "scheduled");
    assert.match(agent.output(), /CPU and memory of jobs are not limited: /);
  });

  it("runs a job in a control group of the shape's size", async (t) => {
    // A folder stands in for the kernel's: its files keep what is written.
    const cgroup = mkdtempSync(join(tmpdir(), "agent-cgroup-"));
    t.after(() => rmSync(cgroup, { recursive: true }));
    writeFileSync(join(cgroup, "cgroup.controllers"), "cpuset cpu io memory pids\n");
    writeFileSync(join(cgroup, "cgroup.procs"), "");
    server.queues.push(queue("small", { cpu: 1, memory: 1 }));
    const job = server.offer("echo $$");
    const group = join(cgroup, `job-${job.id}`);
    mkdirSync(group);
    writeFileSync(join(group, "memory.events"), "oom 1\noom_kill 1\n");
    await using agent = start("--cgroup", cgroup);

    await server.finished(job);

    const written = ["cpu.max", "memory.max", "cgroup.procs"].map((file) =>
      readFileSync(join(group, file), "utf8"),
    );
    const [pid, explanation] = job.log().split("\n");
    assert.deepEqual(written, ["100000 100000", "1073741824", `${pid}\n`]);
    assert.match(explanation ?? "", /needs more memory/);
    assert.doesNotMatch(agent.output(), /not limited/);
  });

  it("exits with 1 when the API token is refused", async () => {
    await using agent = start("--api-token", "wrong");

    assert.deepEqual(await agent.ended, [1, null]);
    assert.match(agent.output(), /The queues cannot be read: status 401/);
  });
});
