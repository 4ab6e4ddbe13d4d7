import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import type { Reachable } from "../../scripts/prove/installation/installation.ts";
import { createProveOrganization } from "../../scripts/prove/installation/organization.ts";
import { checkAssignments } from "../../scripts/prove/ledger/dispatch.ts";
import { randomNumbers } from "../../scripts/prove/random.ts";
import { Timeline } from "../../scripts/prove/timeline.ts";
import { openLooks } from "../../scripts/prove/traffic/agents.ts";
import { sendPosts } from "../../scripts/prove/traffic/deliveries.ts";
import { pauseAndResume } from "../../scripts/prove/traffic/dispatch.ts";
import { openLane } from "../../scripts/prove/traffic/lane.ts";
import { writeLate } from "../../scripts/prove/traffic/late-writes.ts";
import { observeNothing } from "../../scripts/prove/traffic/observed.ts";
import { startAgent } from "../helpers/agent.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { startWorld } from "../helpers/world.ts";

describeOnSqlite("npm run prove, callers", (database) => {
  /** An installation of two ingress processes, and a caller of it. */
  async function startLane() {
    const world = await startWorld(database);
    const marksFolder = mkdtempSync(join(tmpdir(), "signalbox-marks-"));
    const organization = await createProveOrganization(world.services, marksFolder);
    const { url: secondUrl } = await world.another();
    const installation: Reachable = {
      ...{ installed: { env: {} }, organization, marksFolder },
      urls: [world.url, secondUrl],
    };
    const isOver = new AbortController();
    const lane = openLane({
      ...{ installation, observed: observeNothing(), timeline: new Timeline() },
      ...{ random: randomNumbers(1), signal: isOver.signal },
    });
    const atOnce = { ...lane, pause: (ms: number) => lane.pause(Math.min(ms, 10)) };
    const close = async () => {
      await world.close();
      rmSync(marksFolder, { recursive: true, force: true });
    };
    return { world, organization, marksFolder, lane: atOnce, stop: () => isOver.abort(), close };
  }

  /** Makes a build of one job, for the queue `linux`, and waits until the job waits. */
  async function makeJob({ world, organization }: Awaited<ReturnType<typeof startLane>>) {
    const builds = `${world.url}/v2/organizations/${organization.slug}/pipelines/small/builds`;
    const authorization = { Authorization: `Bearer ${organization.apiToken}` };
    const made = await post(builds, '{"branch":"main","commit":"HEAD"}', authorization);
    assert.equal(made.status, 201, made.text);
    const { jobs } = world.services.db.tables;
    return eventually("a waiting job", async () => {
      const [job] = await world.services.db.select().from(jobs).where(eq(jobs.state, "scheduled"));
      return job;
    });
  }

  it("send a post with a key to two processes at once", async () => {
    const { lane, stop, close } = await startLane();

    const sending = sendPosts(lane);
    const isKeyed = () => lane.observed.posts.find(({ ids }) => ids.length > 1);
    const keyed = await eventually("a post with two answers", async () => isKeyed());
    stop();
    await sending;

    const [first, second] = keyed.attempts;
    assert.ok(first && second);
    assert.ok(first.fromMs <= second.untilMs && second.fromMs <= first.untilMs, "at once");
    assert.notEqual(first.request, second.request, "to two processes");
    assert.equal(new Set(keyed.ids).size, 1);
    await close();
  });

  it("write with the token of an attempt while the job waits again, and while it runs again", async () => {
    const started = await startLane();
    const { world, organization, marksFolder, lane, stop, close } = started;
    const { id: jobId } = await makeJob(started);
    const tags = { meta_data: ["queue=linux"] };
    const [lost, next] = [
      await startAgent(world.url, organization.agentToken, tags),
      await startAgent(world.url, organization.agentToken, tags),
    ];
    const statuses = () => lane.observed.lateWrites.map(({ name, status }) => `${name} ${status}`);

    assert.equal(await lost.offered(), jobId);
    const { token } = await lost.begin(jobId);
    writeFileSync(join(marksFolder, `${jobId}.1.1.1`), `${token}\n`);
    const writing = writeLate(lane, world.services.db);
    await lost.send("POST", "/disconnect");
    await eventually("late writes of a waiting job", async () => statuses().length === 4);
    assert.equal(await next.offered(), jobId);
    const present = await next.begin(jobId);
    await eventually("late writes of a running job", async () => statuses().length >= 8);
    stop();
    await writing;

    const refused = ["chunk 404", "finish 422", "meta-data 401", "start 404"];
    assert.deepEqual([...new Set(statuses())].sort(), refused);
    assert.equal((await next.finish(jobId, 0, present.token)).status, 200);
    await close();
  });

  it("look who has which job as soon as a pause is answered, and just before they resume the queue", async () => {
    const { lane, organization, stop, close } = await startLane();
    const [queueId = ""] = organization.queueIds;
    const { dispatchChanges } = lane.observed;
    const looks: string[] = [];

    const look = async () => {
      looks.push(dispatchChanges.map(({ action, isDone }) => `${action} ${isDone}`).join());
      if (looks.length === 2) stop();
      return new Map([[queueId, 7]]);
    };
    await pauseAndResume(lane, queueId, look);

    assert.deepEqual(looks, ["pause true", "pause true"]);
    assert.equal(dispatchChanges[0]?.waitingJobs, 7);
    await close();
  });

  it("find a job that was assigned after the answer to a pause", async () => {
    const started = await startLane();
    const { world, organization, lane, stop, close } = started;
    const { db } = world.services;
    const { jobs } = db.tables;
    const job = await makeJob(started);
    const look = openLooks(lane, db);
    const looks: (() => Promise<unknown>)[] = [
      // As a hand-out does that began before the pause, and has no lock.
      () => db.transaction((tx) => tx.update(jobs).set({ assignedAt: tx.now }).where(eq(jobs.id, job.id))),
      async () => stop(),
    ];

    await pauseAndResume(lane, job.queueId ?? "", async () => {
      const waiting = await look();
      await looks.shift()?.();
      return waiting;
    });

    assert.equal(organization.queueIds[0], job.queueId);
    const [found] = checkAssignments(lane.observed.assignments, lane.observed.dispatchChanges);
    assert.match(found?.title ?? "", /was assigned while its queue was paused/);
    await close();
  });
});
