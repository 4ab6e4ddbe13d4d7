import assert from "node:assert/strict";
import { createHash, createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { asc, eq, inArray } from "drizzle-orm";
import { findOrganization } from "../../shared/accounts/organization-store.ts";
import { createConnection } from "../../shared/connections/connections.ts";
import { openWebhook } from "../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../shared/pipelines/provider/webhook-store.ts";
import { findPipelineFactsById } from "../../shared/pipelines/store.ts";
import { newSchedule } from "../../shared/schedules/members.ts";
import { createSchedule } from "../../shared/schedules/schedules.ts";
import { createLog } from "../../shared/services/log.ts";
import { openServices, type Services } from "../../shared/services/services.ts";
import { readConfig } from "../../shared/settings/config.ts";
import { rebuildDelivery } from "../../shared/triggers/deliveries/rebuild.ts";

import { testClock } from "../helpers/clock.ts";
import { eventually, post } from "../helpers/http.ts";
import { cheapPasswords, patientRedisUrl, secretKey } from "../helpers/world.ts";
import { githubPush } from "../sources/github-payloads.ts";

const lanes = 2;
const pauseMs = 100;

/** The present version, as a look at the database of others. */
export function openPresent(databaseUrl: string): Services {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    REDIS_URL: patientRedisUrl(),
    REDIS_PREFIX: `upgrade-${randomUUID()}`,
    SECRET_KEY: secretKey,
  });
  const log = createLog({ level: "error", process: "test" }, { write: () => {} });
  return openServices({ config, log, clock: testClock(), process: "test", passwords: cheapPasswords() });
}

/** A push that was answered 201. */
interface Taken {
  deliveryId: string;
  commit: string;
}

/** Waits until pipelines have webhooks, and sends signed pushes to each in turn, again until they are answered 201. */
export async function startPushers(services: Services, urls: string[], pipelines: number) {
  const { db } = services;
  const { triggers, pipelines: table } = db.tables;
  const webhooks = await eventually("the webhooks of all pipelines", async () => {
    const found = await db
      .select({ trigger: triggers, repository: table.repository })
      .from(triggers)
      .innerJoin(table, eq(table.id, triggers.pipelineId))
      .where(eq(triggers.isProvider, true));
    const open = ({ trigger, repository }: (typeof found)[number]) => ({
      ...openWebhook(services, trigger),
      repository: { id: 7, clone_url: repository },
    });
    return found.length === pipelines && found.map(open);
  });
  const taken: Taken[] = [];
  const answers: Record<string, number> = {};
  let pushes = 0;
  let isOver = false;

  const push = async () => {
    const number = pushes++;
    const commit = createHash("sha1").update(String(number)).digest("hex");
    const webhook = webhooks[number % webhooks.length];
    assert.ok(webhook);
    const { webhookUrl, secret, repository } = webhook;
    const head = { id: commit };
    const body = JSON.stringify(githubPush({ ref: "refs/heads/side", after: commit, repository }, head));
    const signature = createHmac("sha256", secret ?? "")
      .update(body)
      .digest("hex");
    const headers = {
      "X-GitHub-Event": "push",
      "X-Hub-Signature-256": `sha256=${signature}`,
      "Idempotency-Key": commit, // an answer may be lost
    };
    while (!isOver) {
      const { pathname } = new URL(webhookUrl);
      const answer = await post(`${urls[0]}${pathname}`, body, headers).catch(() => undefined);
      const status = answer?.status ?? "none";
      answers[status] = (answers[status] ?? 0) + 1;
      if (status === 201) return void taken.push({ deliveryId: answer?.body.id, commit });
      await sleep(pauseMs);
    }
  };
  const lane = async () => {
    while (!isOver) {
      await push();
      await sleep(pauseMs);
    }
  };
  const running = Array.from({ length: lanes }, lane);
  return {
    taken,
    answers,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

/**
 * Each push that was answered 201 is built at its commit; those that the former version decided, once they are built
 * again. Nothing else of a push is built.
 * @returns how many the former version decided
 */
export async function judgePushes(services: Services, taken: Taken[]): Promise<number> {
  const { db } = services;
  const { deliveries, builds } = db.tables;
  const ids = taken.map(({ deliveryId }) => deliveryId);
  const commitOf = new Map(taken.map(({ deliveryId, commit }) => [deliveryId, commit]));
  const stored = await eventually("all pushes are decided", async () => {
    const rows = await db.select().from(deliveries).where(inArray(deliveries.id, ids));
    return rows.every(({ status }) => status !== null) && rows;
  });
  assert.equal(stored.length, ids.length, "no push is lost");
  const left = stored.filter(({ status }) => status !== "build_created");
  for (const delivery of left) {
    assert.equal(delivery.reason, "filter_mismatch");
    await buildAgain(services, delivery);
  }
  const built = await db.select().from(builds).where(inArray(builds.deliveryId, ids)).orderBy(asc(builds.id));
  assert.equal(built.length, ids.length);
  for (const { deliveryId, branch, commit } of built)
    assert.deepEqual([branch, commit], ["side", commitOf.get(deliveryId ?? "")]);
  return left.length;
}

async function buildAgain(
  services: Services,
  delivery: Parameters<typeof rebuildDelivery>[2]["delivery"],
): Promise<void> {
  const { db } = services;
  const [{ pipelineId } = { pipelineId: "" }] = await db
    .select({ pipelineId: db.tables.triggers.pipelineId })
    .from(db.tables.triggers)
    .where(eq(db.tables.triggers.id, delivery.triggerId));
  const pipeline = await findPipelineFactsById(db, { id: pipelineId });
  const trigger = await findWebhook(db, { pipelineId });
  assert.ok(pipeline && trigger);
  await rebuildDelivery(services, await memberOf(services), { pipeline, trigger, delivery });
}

async function memberOf({ db }: Services) {
  const organization = await findOrganization(db, "acme");
  const [user] = await db.select().from(db.tables.users);
  assert.ok(organization && user);
  return { organization, userId: user.id };
}

/** Makes rows of tables that release 1.0.0 does not know. @returns a check that they are there */
export async function addLaterRows(services: Services): Promise<() => Promise<void>> {
  const { db } = services;
  const { schedules, repositoryConnections, pipelines } = db.tables;
  const actor = await memberOf(services);
  const url = "https://git.example.com";
  const connection = await createConnection(services, actor, { type: "gitea", url, token: "a token" });
  const [{ id } = { id: "" }] = await db.select({ id: pipelines.id }).from(pipelines).limit(1);
  const pipeline = await findPipelineFactsById(db, { id });
  assert.ok(pipeline);
  const schedule = await createSchedule(
    services,
    actor,
    pipeline,
    newSchedule.parse({ cronline: "@yearly" }),
  );
  return async () => {
    const [{ id, nextBuildAt } = schedule, ...others] = await db.select().from(schedules);
    assert.deepEqual([id, nextBuildAt, others], [schedule.id, schedule.nextBuildAt, []]);
    const ids = (await db.select().from(repositoryConnections)).map((each) => each.id);
    assert.deepEqual(ids, [connection.id]);
  };
}
