import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { evictLogs } from "../../shared/agents/logs/evict.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import { countStoredBytes } from "../../shared/retention/organizations.ts";
import { rebuildNext } from "../../shared/triggers/bulk-rebuilds/run.ts";
import { evictPayloads } from "../../shared/triggers/payloads/payloads.ts";
import { leaseJob, newJob } from "../agents/logs/jobs-with-logs.ts";
import { agentTokenOf, registration, type ScriptedAgent, sendAsAgent, startAgent } from "../helpers/agent.ts";
import { doTasks } from "../helpers/builds.ts";
import { describeOnBothDatabases, describeWorld, withSettings } from "../helpers/databases.ts";
import { type Answer, request } from "../helpers/http.ts";
import { type MadeTrigger, openTriggerApi } from "../helpers/trigger-api.ts";

const mb = 1024 ** 2;
const message =
  "Organization has reached its limit of 20 MB with its builds and other records: delete pipelines that it no longer needs and wait an hour, or ask the operator to raise STORED_BYTES_PER_ORGANIZATION";

const settings = { STORED_BYTES_PER_ORGANIZATION: String(20 * mb) };

describeWorld("an organization that is full", withSettings(openTriggerApi, settings), (api) => {
  let trigger: MadeTrigger;
  let agent: ScriptedAgent;
  let registrationToken: string;

  before(async () => {
    trigger = await api.newTrigger();
    registrationToken = await agentTokenOf(api.world, api.acme.cluster);
    agent = await startAgent(api.world.url, registrationToken);
  });

  const setKeptBytes = (keptBytes: number) =>
    api.world.services.db.transaction(async (tx) => {
      const { organizations } = tx.tables;
      await tx.update(organizations).set({ keptBytes }).where(eq(organizations.id, api.acme.id));
    });
  const fill = () => setKeptBytes(20 * mb);
  const makeRoom = () => setKeptBytes(20 * mb - 1);
  const built = async () => {
    const id = await api.deliver(trigger);
    await api.work(id);
    return id;
  };
  const takeJob = async () => {
    const id = (await agent.offered()) ?? "";
    return { id, ...(await agent.begin(id)) };
  };
  const upload = (job: { id: string; token: string }, uuid: string) =>
    agent.send(
      "POST",
      `/jobs/${job.id}/pipelines`,
      { uuid, pipeline: { steps: [{ command: "x" }] } },
      job.token,
    );
  const bulksAt = ({ id }: MadeTrigger = trigger) => `/pipelines/web/triggers/${id}/rebuilds`;

  it("gets no new builds, steps and agents, and is told what to do", async () => {
    await makeRoom();
    const delivery = await built();
    const job = await takeJob();
    const doors: Record<string, () => Promise<Answer>> = {
      build: () => api.send("POST", "/pipelines/web/builds"),
      rebuild: () => api.send("PUT", "/pipelines/web/builds/1/rebuild"),
      delivery: () =>
        api.send("POST", `/pipelines/web/triggers/${trigger.id}/deliveries/${delivery}/rebuild`),
      upload: () => upload(job, "01910000-0000-7000-8000-000000000001"),
      register: () =>
        sendAsAgent(api.world.url, registrationToken, {
          method: "POST",
          path: "/register",
          body: registration,
        }),
      bulkRebuild: () => api.send("POST", bulksAt()),
      pipeline: () =>
        api.send("POST", "/pipelines", {
          body: { name: "Next", cluster_id: api.acme.cluster.id, configuration: "steps: [{ command: x }]" },
        }),
      trigger: () =>
        api.send("POST", "/pipelines/web/triggers", { body: { type: "webhook", label: "Next" } }),
      secret: () =>
        api.send("POST", `/clusters/${api.acme.cluster.id}/secrets`, {
          body: { key: "NEXT", value: "secret" },
        }),
    };
    await fill();

    for (const [door, send] of Object.entries(doors)) {
      const { status, body } = await send();
      assert.deepEqual([door, status, body], [door, 422, { message }]);
    }

    await makeRoom();
    for (const [door, send] of Object.entries(doors)) assert.ok((await send()).status < 300, door);
    await fill();
    assert.equal(
      (await upload(job, "01910000-0000-7000-8000-000000000001")).status,
      200,
      "was applied already",
    );
    await agent.finish(job.id, 0, job.token);
  });

  it("still builds accepted webhooks, and retries jobs by rule and by hand", async () => {
    await makeRoom();
    const steps = [{ command: "false", retry: { automatic: [{ exit_status: 1, limit: 1 }] } }];
    const { slug } = await api.newPipeline({ steps });
    const hook = await api.newTrigger({}, slug);
    await fill();

    await api.work(await api.deliver(hook));
    for (let run = 0; run < 20 && (await agent.offered()); run++) await agent.runOne(1);

    const at = `/pipelines/${slug}/builds/1`;
    const { body } = await api.send("GET", `${at}?include_retried_jobs=true`);
    assert.deepEqual(
      body.jobs.map(({ state, retry_type }: { state: string; retry_type: string | null }) => [
        state,
        retry_type,
      ]),
      [
        ["failed", null],
        ["failed", "automatic"],
      ],
    );
    assert.equal((await api.send("PUT", `${at}/jobs/${body.jobs[1].id}/retry`)).status, 200);
  });

  it("drops what running jobs log, which counts before they end", async () => {
    const { services } = api.world;
    await makeRoom();
    await api.work(await api.deliver(trigger));
    const job = await takeJob();
    const log = (sequence: number, bytes: Uint8Array<ArrayBuffer>) =>
      request(
        `${api.world.url}/v3/jobs/${job.id}/chunks?sequence=${sequence}&offset=${(sequence - 1) * 50_000}`,
        {
          method: "POST",
          headers: { Authorization: `Token ${job.token}`, "Content-Type": "application/octet-stream" },
          body: bytes,
        },
      );
    const stored = async () => (await listLogsOf(job.id)).map(({ storedBytes }) => storedBytes);
    const listLogsOf = (id: string) => {
      const { jobLogs } = services.db.tables;
      return services.db.select().from(jobLogs).where(eq(jobLogs.jobId, id));
    };
    const kept = async () => (await findOrganizationById(services.db, api.acme.id))?.keptBytes ?? 0;
    const bytes = crypto.getRandomValues(new Uint8Array(50_000));
    await countStoredBytes(services);
    const before = await kept();

    assert.equal((await log(1, bytes)).status, 200);
    await countStoredBytes(services);
    assert.ok((await kept()) - before >= 50_000);
    const [first] = await stored();
    await fill();
    assert.equal((await log(2, bytes)).status, 200);

    assert.deepEqual(await stored(), [first]);
    assert.ok(((await listLogsOf(job.id))[0]?.droppedBytes ?? 0) >= 50_000);
    await makeRoom();
    assert.equal((await log(2, bytes)).status, 200);
    assert.ok(((await stored())[0] ?? 0) > 100_000);
    await agent.finish(job.id, 0, job.token);
  });

  it("lets a bulk rebuild rest, which goes on once there is room", async () => {
    await makeRoom();
    const hook = await api.newTrigger();
    await api.work(await api.deliver(hook));
    const { body } = await api.send("POST", bulksAt(hook));
    const run = async () => {
      await doTasks(api.world.services, { bulk_rebuild: rebuildNext });
      const { state, built } = (await api.send("GET", `${bulksAt(hook)}/${body.id}`)).body;
      return { state, built };
    };
    await fill();

    assert.deepEqual(await run(), { state: "running", built: 0 });
    await makeRoom();

    assert.deepEqual(await run(), { state: "finished", built: body.total });
  });
});

describeOnBothDatabases("an organization over its limit", (database) => {
  it("loses its oldest payloads and logs, of whichever kind", async () => {
    const api = await openTriggerApi(database, {
      STORED_BYTES_PER_ORGANIZATION: String(100_000),
      MAX_PAYLOAD_BYTES: String(mb),
      PAYLOAD_RETENTION_DAYS: "30",
    });
    const { services, clock } = api.world;
    const { db } = services;
    const trigger = await api.newTrigger();
    const texts: string[] = [];
    /** Bytes that do not compress. */
    const text = (seed: number) => {
      let state = seed + 1;
      return Array.from({ length: 50_000 }, () => {
        state = (state * 48_271) % 2_147_483_647;
        return String.fromCharCode(33 + (state % 90));
      })
        .join("")
        .replaceAll(/["\\]/g, "x");
    };
    const payload = async (seed: number) => {
      const id = await api.deliver(trigger, JSON.stringify({ text: text(seed) }));
      await api.work(id);
      texts.push(id);
    };
    const log = async (seed: number) => {
      const job = await leaseJob(services, await newJob(services, api.acme));
      await job.log(text(seed));
      await db.transaction((tx) => {
        const { jobLogs } = tx.tables;
        return tx.update(jobLogs).set({ createdAt: clock.now() }).where(eq(jobLogs.jobId, job.lease.jobId));
      });
      await job.finish();
    };
    const evict = async () => {
      await evictPayloads(services);
      await evictLogs(services);
      await countStoredBytes(services);
    };
    clock.freeze();
    clock.advance(hourMs - (clock.now().getTime() % hourMs) - dayMs);
    await payload(1);
    clock.advance(2 * hourMs);
    await log(2);
    clock.advance(2 * hourMs);
    await payload(3);
    clock.advance(2 * hourMs);
    await log(4);
    clock.advance(30 * minuteMs);
    const kept = async () => ({
      payloads: (await db.select().from(db.tables.payloads)).map(({ deliveryId }) =>
        texts.indexOf(deliveryId),
      ),
      logs: (await db.select().from(db.tables.jobLogs).orderBy(db.tables.jobLogs.createdAt)).map(
        ({ evictedAt }) => evictedAt === null,
      ),
    });
    await evict(); // counts them all, for the next run
    assert.deepEqual(await kept(), { payloads: [0, 1], logs: [true, true] });
    for (let run = 0; run < 2; run++) await evict();

    assert.deepEqual(await kept(), { payloads: [1], logs: [false, true] });
    await api.close();
  });
});
