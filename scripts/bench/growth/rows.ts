import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { insertJobs, type Job, selectJobs, wholeJob } from "../../../shared/builds/rows/job-store.ts";
import type { Tx } from "../../../shared/db/database.ts";
import { dayMs, hourMs, minuteMs } from "../../../shared/durations.ts";
import { newId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/services/services.ts";
import { openDueDeliveries } from "../../../shared/triggers/deliveries/due.ts";
import { sendDelivery } from "../../../shared/triggers/deliveries/send.ts";
import type { BuildState, JobState } from "../../../shared/vocabulary.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { makeCodes } from "../device/codes.ts";
import { client, type Owner, type Tenant } from "../servers/tenant.ts";

/** Found by a filter of the bench, whatever the number of rows. */
export const wantedCommit = "5eed".padEnd(40, "0");

const rowsAtOnce = 5000;
/** Rows are spread over these days; payloads are kept for the last of them. */
const days = 90;
const payloadDays = 7;
const scheduledBuilds = 60;
const runningBuilds = 40;
/** A million rows have as many members as an organization has by default. */
const grantsPerUser = 100;

/** An organization without builds: as many pipelines and queues, however many rows come. */
export interface Base extends Tenant {
  /** The first is the default. */
  queueIds: string[];
  /** The first is the busiest. */
  pipelines: { id: string; triggerId: string }[];
}

type Models = Awaited<ReturnType<typeof makeModels>>;

/** Makes a delivery with its build and job, and an approved device code, as the program does: all rows are copies. */
export async function makeModels(services: Services, tenant: Tenant, owner: Owner) {
  const worker = openDueDeliveries(services);
  await sendDelivery(services, owner, { body: Buffer.from(pushPayload(kilobyte)) });
  worker.wake();
  await worker.idle();
  await worker.close();
  await makeCodes(services, tenant, "approved", 1);
  const { db } = services;
  const { deliveries, payloads, builds, users, members, accessTokens, auditEvents, deviceCodes } = db.tables;
  return {
    delivery: one(await db.select().from(deliveries)),
    payload: one(await db.select().from(payloads)),
    build: one(await db.select().from(builds)),
    job: one((await selectJobs(db)).map(wholeJob)),
    user: one(await db.select().from(users).where(eq(users.id, tenant.userId))),
    member: one(await db.select().from(members).where(eq(members.userId, tenant.userId))),
    token: one(await db.select().from(accessTokens)),
    auditEvent: one((await db.select().from(auditEvents)).slice(0, 1)),
    code: one(await db.select().from(deviceCodes)),
  };
}

function one<Row>(rows: Row[]): Row {
  if (rows[0] === undefined || rows.length > 1) throw new Error(`There are ${rows.length} rows of one.`);
  return rows[0];
}

/**
 * Inserts this many deliveries, builds, jobs and grants, with the rows that belong to them. Half of the builds are of
 * the first pipeline. Nearly all are finished.
 * @returns the last numbers of builds, by place of the pipeline
 */
export async function insertRows(
  { db }: Services,
  models: Models,
  base: Base,
  count: number,
): Promise<number[]> {
  const now = Date.now();
  const timeOf = (index: number) => new Date(now - minuteMs - ((count - index) / count) * days * dayMs);
  const isKept = ({ receivedAt }: { receivedAt: Date }) => now - receivedAt.getTime() < payloadDays * dayMs;
  const lastNumbers = base.pipelines.map((_, place) => (place === 0 ? models.build.number : 0));
  for (let start = 0; start < count; start += rowsAtOnce) {
    const indexes = Array.from({ length: Math.min(rowsAtOnce, count - start) }, (_, each) => start + each);
    const builds = indexes.map((index) => {
      const place = placeOf(index, base.pipelines.length);
      lastNumbers[place] = (lastNumbers[place] ?? 0) + 1;
      const pipelineId = base.pipelines[place]?.id ?? "";
      return newBuild(
        { ...models.build, pipelineId, number: lastNumbers[place] },
        index,
        count,
        timeOf(index),
      );
    });
    const triggerOf = new Map(base.pipelines.map(({ id, triggerId }) => [id, triggerId]));
    const deliveries = builds.map(({ deliveryId, pipelineId, createdAt }) => ({
      ...models.delivery,
      id: deliveryId,
      triggerId: triggerOf.get(pipelineId) ?? "",
      receivedAt: createdAt,
      dueAt: createdAt,
    }));
    const users = indexes
      .filter((index) => index % grantsPerUser === 0)
      .map((index) => ({
        ...models.user,
        id: newId(timeOf(index)),
        email: `user-${index}@example.com`,
        passwordHash: null,
        createdAt: timeOf(index),
      }));
    await db.transaction(async (tx) => {
      const { tables } = tx;
      await tx.insertMany(tables.deliveries, deliveries);
      const kept = deliveries.filter(isKept).map(({ id }) => ({ ...models.payload, deliveryId: id }));
      await tx.insertMany(tables.payloads, kept);
      await tx.insertMany(tables.builds, builds);
      await insertJobs(
        tx,
        builds.map((build) => newJob(models.job, base.queueIds, build)),
      );
      await tx.insertMany(tables.users, users);
      const memberOf = ({ id: userId, createdAt }: User) => ({
        ...models.member,
        userId,
        role: "member" as const,
        createdAt,
      });
      await tx.insertMany(tables.members, users.map(memberOf));
      await insertGrants(tx, models, users);
      const auditOf = ({ id: actorId, createdAt }: User) => ({ id: newId(createdAt), actorId, createdAt });
      await tx.insertMany(
        tables.auditEvents,
        users.map((user) => ({ ...models.auditEvent, ...auditOf(user) })),
      );
      await tx.insertMany(
        tables.deviceCodes,
        users.map((user) => newUsedCode(models.code, user)),
      );
    });
  }
  await db.transaction(async (tx) => {
    // The visitor has as many grants, however many others have.
    await insertGrants(tx, models, [{ id: models.user.id, createdAt: new Date(now) }]);
    const { pipelines } = tx.tables;
    for (const [place, { id }] of base.pipelines.entries())
      await tx.update(pipelines).set({ lastBuildNumber: lastNumbers[place] }).where(eq(pipelines.id, id));
  });
  return lastNumbers;
}

function placeOf(index: number, pipelines: number): number {
  return index % 2 === 0 ? 0 : 1 + (((index - 1) / 2) % (pipelines - 1));
}

function newBuild(model: Build, index: number, count: number, time: Date) {
  const state = stateOf(index, count);
  const isStarted = state !== "scheduled" && state !== "canceled";
  return {
    ...model,
    id: newId(time),
    deliveryId: newId(time),
    state,
    message: `Light the harbour ${index}`,
    commit: index === count - Math.ceil(count / 3) ? wantedCommit : randomBytes(20).toString("hex"),
    branch: branchOf(index, count),
    createdAt: time,
    startedAt: isStarted ? time : null,
    finishedAt: state === "scheduled" || state === "running" ? null : time,
  };
}

/** As many of the newest have not finished, however many rows there are. */
function stateOf(index: number, count: number): BuildState & JobState {
  const fromNewest = count - index;
  if (fromNewest <= scheduledBuilds) return "scheduled";
  if (fromNewest <= scheduledBuilds + runningBuilds) return "running";
  const percent = (index * 37) % 100;
  if (percent < 80) return "passed";
  return percent < 93 ? "failed" : "canceled";
}

function branchOf(index: number, count: number): string {
  if (index % 5 < 2) return "main";
  return `feature/${(index * 7919) % Math.ceil(count / 50)}`;
}

function newJob(model: Job, queueIds: string[], build: ReturnType<typeof newBuild>): Job {
  const { id: buildId, state, createdAt, startedAt, finishedAt, number } = build;
  const exitStatus = state === "passed" ? 0 : state === "failed" ? 1 : null;
  const queueId = queueIds[number % queueIds.length] as string;
  const times = { createdAt, assignedAt: startedAt, startedAt, finishedAt };
  return { ...model, id: newId(createdAt), buildId, queueId, state, exitStatus, ...times };
}

type User = { id: string; createdAt: Date };

async function insertGrants(tx: Tx, { token, code }: Models, users: User[]): Promise<void> {
  const model = {
    applicationId: code.applicationId,
    organizationId: token.organizationId,
    scopes: client.scopes,
    approvedUserAgent: "bench",
    approvedIp: "127.0.0.1",
    lastUsedAt: null,
    lastUserAgent: null,
    lastIp: null,
  };
  const grants = users.flatMap(({ id: userId, createdAt }) =>
    Array.from({ length: grantsPerUser }, () => ({ ...model, id: newId(createdAt), userId, createdAt })),
  );
  const tokens = grants.map(({ id: grantId, userId, createdAt }) => ({
    ...token,
    id: newId(createdAt),
    tokenHash: randomHash(),
    userId,
    grantId,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 365 * dayMs),
  }));
  await tx.insertMany(tx.tables.grants, grants);
  await tx.insertMany(tx.tables.accessTokens, tokens);
}

function newUsedCode(model: Models["code"], { id, createdAt }: User): Models["code"] {
  const secrets = { deviceCodeHash: randomHash(), userCodeMac: randomHash() };
  const expiresAt = new Date(createdAt.getTime() + hourMs);
  return { ...model, ...secrets, id: newId(createdAt), claimedById: id, state: "used", createdAt, expiresAt };
}

function randomHash(): string {
  return randomBytes(32).toString("base64url");
}
