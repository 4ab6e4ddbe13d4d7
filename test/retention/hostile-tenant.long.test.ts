import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { evictLogs } from "../../shared/agents/logs/evict.ts";
import { minuteMs } from "../../shared/durations.ts";
import { countStoredBytes } from "../../shared/retention/organizations.ts";
import { recountRecords } from "../../shared/retention/records.ts";
import { evictPayloads } from "../../shared/triggers/payloads/payloads.ts";
import { agentTokenOf, registration, type ScriptedAgent, sendAsAgent, startAgent } from "../helpers/agent.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { type Answer, request } from "../helpers/http.ts";
import { type MadeTrigger, openTriggerApi } from "../helpers/trigger-api.ts";

const mb = 1024 ** 2;
const limit = 20 * mb;
/** At most, as shared/sharing/README.md has it. */
const bytesOfBuild = 37 * mb;
const deliveriesPerHour = 8;

const openWorld = withSettings(openTriggerApi, {
  STORED_BYTES_PER_ORGANIZATION: String(limit),
  API_REQUESTS_PER_MINUTE: "100000",
});

describeWorldOn(sqlite, "a tenant that stores as much as it can", openWorld, (api) => {
  let trigger: MadeTrigger;
  let agent: ScriptedAgent;
  let job: { id: string; token: string };
  let registrationToken: string;
  let tries = 0;

  before(async () => {
    const { db } = api.world.services;
    await db.transaction(async (tx) => {
      const { organizations } = tx.tables;
      await tx.update(organizations).set({ deliveriesPerHour }).where(eq(organizations.id, api.acme.id));
    });
    registrationToken = await agentTokenOf(api.world, api.acme.cluster);
    agent = await startAgent(api.world.url, registrationToken);
    await api.send("POST", "/pipelines/web/builds");
    const id = (await agent.offered()) ?? "";
    job = { id, ...(await agent.begin(id)) };
    const amplified = Array.from({ length: 20 }, () => ({ command: "x".repeat(200), parallelism: 100 }));
    trigger = await api.newTrigger({}, (await api.newPipeline({ steps: amplified })).slug);
  });

  const randomText = (bytes: number) => randomBytes((bytes * 3) / 4).toString("base64");
  const repeat = (times: number, send: () => Promise<Answer>) => Array.from({ length: times }, send);
  const statuses = async (answers: Promise<Answer>[]) =>
    new Set((await Promise.all(answers)).map(({ status }) => status));
  const upload = (steps: object[]) =>
    agent.send("POST", `/jobs/${job.id}/pipelines`, { uuid: randomUUID(), pipeline: { steps } }, job.token);

  /** Doors that a full organization finds closed. */
  const closing = () => {
    const steps = Array.from({ length: 50 }, () => ({ command: randomText(10_000) }));
    const message = randomText(9000);
    const env = { A: randomText(60_000) };
    const meta_data = Object.fromEntries(
      Array.from({ length: 15 }, (_, key) => [`k${key}`, randomText(50_000)]),
    );
    const tags = Array.from({ length: 16 }, (_, tag) => `t${tag}=${"x".repeat(240)}`);
    const body = { ...registration, meta_data: tags, os: "x".repeat(4000) };
    return {
      builds: repeat(2, () =>
        api.send("POST", "/pipelines/web/builds", { body: { message, env, meta_data } }),
      ),
      rebuilds: repeat(4, () => api.send("PUT", "/pipelines/web/builds/1/rebuild")),
      uploads: repeat(2, () => upload(steps)),
      agents: repeat(8, () =>
        sendAsAgent(api.world.url, registrationToken, { method: "POST", path: "/register", body }),
      ),
    };
  };
  /** Doors that stay open, and what comes in is evicted, not kept or bounded otherwise. */
  const open = () => ({
    logs: repeat(8, () => {
      const offset = tries++ * 50_000;
      return request(`${api.world.url}/v3/jobs/${job.id}/chunks?sequence=${tries}&offset=${offset}`, {
        method: "POST",
        headers: { Authorization: `Token ${job.token}`, "Content-Type": "application/octet-stream" },
        body: crypto.getRandomValues(new Uint8Array(50_000)),
      });
    }),
    metaData: repeat(6, () =>
      agent.send(
        "POST",
        `/jobs/${job.id}/data/set`,
        { key: `k${tries++}`, value: randomText(90_000) },
        job.token,
      ),
    ),
  });
  /** Does the work of background jobs in the minutes after it. */
  const settle = async () => {
    const { services, clock } = api.world;
    clock.advance(11 * minuteMs);
    for (let run = 0; run < 2; run++) {
      await countStoredBytes(services);
      await recountRecords(services);
      await evictPayloads(services);
      await evictLogs(services);
    }
    await countStoredBytes(services);
    const organization = await findOrganizationById(services.db, api.acme.id);
    assert.ok(organization);
    return organization;
  };

  it("comes to its limit, and no further than by what is counted late and accepted webhooks", async () => {
    let { keptBytes, storedBytes } = await settle();
    let largestRound = 0;
    for (let round = 0; keptBytes < limit; round++) {
      assert.ok(round < 40, `${round} rounds, ${storedBytes} bytes`);
      const attack = [...Object.values(closing()), ...Object.values(open())];
      await Promise.all(attack.flat());
      const before = storedBytes;
      ({ keptBytes, storedBytes } = await settle());
      largestRound = Math.max(largestRound, storedBytes - before);
    }
    assert.ok(storedBytes <= limit + largestRound, `${storedBytes} after ${largestRound}`);
    assert.ok(largestRound < limit / 2, String(largestRound));

    const full = closing();
    for (const [door, answers] of Object.entries(full))
      assert.deepEqual(await statuses(answers), new Set([422]), door);
    for (let round = 0; round < 5; round++) await Promise.all(Object.values(open()).flat());
    const later = await settle();
    assert.ok(later.keptBytes - keptBytes <= 2 * mb, "the meta-data of one build");
    await Promise.all(Object.values(open()).flat());
    assert.equal((await settle()).storedBytes, later.storedBytes);

    const payload = JSON.stringify({ text: randomText(100_000) });
    const posted = await Promise.all(repeat(3 * deliveriesPerHour, () => api.post(trigger, payload)));
    const accepted = posted.filter(({ status }) => status === 201);
    await api.work(...accepted.map(({ body }) => body.id));
    assert.equal(accepted.length, deliveriesPerHour);
    assert.deepEqual(new Set(posted.map(({ status }) => status)), new Set([201, 429]));
    const { db } = api.world.services;
    const builds = await db.select().from(db.tables.builds);
    const built = new Set(builds.map(({ deliveryId }) => deliveryId));
    for (const { body } of accepted) assert.ok(built.has(body.id));

    const grown = (await settle()).storedBytes - later.storedBytes;
    assert.ok(grown > deliveriesPerHour * 2000 * 600, String(grown));
    assert.ok(grown <= deliveriesPerHour * bytesOfBuild, String(grown));
    assert.deepEqual(await db.select().from(db.tables.payloads), [], "payloads are evicted");
  });
});
