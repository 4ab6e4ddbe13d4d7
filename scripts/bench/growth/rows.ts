import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { insertJobs, type Job } from "../../../shared/builds/job-store.ts";
import { newScriptJob } from "../../../shared/builds/new-jobs.ts";
import type { Build } from "../../../shared/builds/store.ts";
import type { Tx } from "../../../shared/db/database.ts";
import { dayMs, hourMs, hourOf, minuteMs } from "../../../shared/durations.ts";
import { figureRetentionMs } from "../../../shared/figures/fold.ts";
import { sampleMinutes } from "../../../shared/figures/samples.ts";
import { newId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { BuildState, FigureName, JobState } from "../../../shared/vocabulary.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { client, newCode } from "../device/codes.ts";

/** Found by the filters of the bench, whatever the number of rows. */
export const rareBranch = "release/1.0";
export const wantedCommit = "5eed".padEnd(40, "0");

const rowsAtOnce = 5000;
/** Rows are spread over these days; payloads are kept for the last of them. */
const days = 90;
const payloadDays = 7;
const rareBuilds = 20;
const scheduledBuilds = 60;
const runningBuilds = 40;
const grantsPerUser = 20;
const message = "Light the harbour";
const payload = Buffer.from(pushPayload(kilobyte));

/** The rows' owners. */
interface Base {
  organizationId: string;
  applicationId: string;
  visitorId: string;
  queueIds: string[];
  pipelines: string[];
  triggerIds: Map<string, string>;
}

export interface Inserted {
  /** By place of the pipeline. */
  lastBuildNumbers: number[];
  /** A delivery of the first pipeline, whose payload is there. */
  deliveryId: string;
}

/**
 * Inserts this many deliveries, builds, jobs and grants, with the rows that belong to them. Half of the builds are of
 * the first pipeline. Nearly all are finished.
 */
export async function insertRows({ db }: Services, base: Base, count: number): Promise<Inserted> {
  const { organizationId } = base;
  const now = Date.now();
  const timeOf = (index: number) => new Date(now - minuteMs - ((count - index) / count) * days * dayMs);
  const isKept = ({ receivedAt }: { receivedAt: Date }) => now - receivedAt.getTime() < payloadDays * dayMs;
  const lastBuildNumbers = base.pipelines.map(() => 0);
  let deliveryId = "";

  for (let start = 0; start < count; start += rowsAtOnce) {
    const indexes = Array.from({ length: Math.min(rowsAtOnce, count - start) }, (_, each) => start + each);
    const builds = indexes.map((index) =>
      newBuild(base, lastBuildNumbers, { index, count, time: timeOf(index) }),
    );
    const deliveries = builds.map((build) => newDelivery(base, build));
    const payloads = deliveries.filter(isKept).map(({ id }) => newPayload(organizationId, id));
    const jobs = builds.map((build) => newJob(base, build));
    const users = indexes
      .filter((index) => index % grantsPerUser === 0)
      .map((index) => newUser(index, timeOf(index)));
    deliveryId =
      builds.findLast(({ pipelineId }) => pipelineId === base.pipelines[0])?.deliveryId ?? deliveryId;
    await db.transaction(async (tx) => {
      const { tables } = tx;
      await tx.insertMany(tables.deliveries, deliveries);
      await tx.insertMany(tables.payloads, payloads);
      await tx.insertMany(tables.builds, builds);
      await insertJobs(tx, jobs);
      await tx.insertMany(tables.users, users);
      await tx.insertMany(
        tables.members,
        users.map(({ id: userId, createdAt }) => ({ organizationId, userId, role: "member", createdAt })),
      );
      await insertGrants(tx, base, users);
      await tx.insertMany(
        tables.auditEvents,
        users.map((user) => newAuditEvent(base, user)),
      );
      await tx.insertMany(
        tables.deviceCodes,
        users.map((user) => newUsedCode(base, user)),
      );
    });
  }
  await db.transaction(async (tx) => {
    // The visitor has as many grants, however many others have.
    await insertGrants(tx, base, [{ id: base.visitorId, createdAt: new Date(now) }]);
    await insertFigures(tx, base, now);
    const { pipelines } = tx.tables;
    for (const [place, id] of base.pipelines.entries())
      await tx
        .update(pipelines)
        .set({ lastBuildNumber: lastBuildNumbers[place] })
        .where(eq(pipelines.id, id));
  });
  return { lastBuildNumbers, deliveryId };
}

function placeOf(index: number, pipelines: number): number {
  return index % 2 === 0 ? 0 : 1 + (((index - 1) / 2) % (pipelines - 1));
}

interface Place {
  index: number;
  count: number;
  time: Date;
}

/** @param numbers the last one of each pipeline; this build gets the next */
function newBuild(base: Base, numbers: number[], { index, count, time }: Place) {
  const place = placeOf(index, base.pipelines.length);
  numbers[place] = (numbers[place] ?? 0) + 1;
  const state = stateOf(index, count);
  const isStarted = state !== "scheduled" && state !== "canceled";
  return {
    id: newId(time),
    organizationId: base.organizationId,
    pipelineId: base.pipelines[place] as string,
    number: numbers[place] as number,
    deliveryId: newId(time),
    rebuild: 0,
    state,
    message: `${message} ${index}`,
    commit: index === count - Math.ceil(count / 3) ? wantedCommit : randomBytes(20).toString("hex"),
    branch: branchOf(index, count),
    environment: {},
    environmentSealed: null,
    source: "webhook",
    creatorId: null,
    author: null,
    rebuiltFromId: null,
    options: null,
    uploadedEnvironmentSealed: null,
    hasGraph: false,
    hasMembers: false,
    triggeredByJobId: null,
    rootBuildId: null,
    cancelReason: null,
    failingAt: null,
    pausedQueueId: null,
    isPaused: false,
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
  if (index % Math.ceil(count / rareBuilds) === 0) return rareBranch;
  if (index % 5 < 2) return "main";
  return `feature/${(index * 7919) % Math.ceil(count / 50)}`;
}

function newJob({ queueIds }: Base, build: Build & { state: JobState }): Job {
  const { state, createdAt, startedAt, finishedAt } = build;
  return {
    ...newScriptJob({ id: newId(createdAt), buildId: build.id, createdAt }),
    queueId: queueIds[build.number % queueIds.length] as string,
    command: "echo hello",
    state,
    exitStatus: state === "passed" ? 0 : state === "failed" ? 1 : null,
    assignedAt: startedAt,
    startedAt,
    finishedAt,
  };
}

function newDelivery(
  { triggerIds }: Base,
  { pipelineId, deliveryId, createdAt }: ReturnType<typeof newBuild>,
) {
  return {
    id: deliveryId,
    triggerId: triggerIds.get(pipelineId) as string,
    receivedAt: createdAt,
    contentType: "application/json",
    externalId: null,
    event: null,
    size: payload.length,
    status: "build_created" as const,
    reason: null,
    dueAt: createdAt,
    organizationId: null,
    isFiltered: false,
  };
}

function newPayload(organizationId: string, deliveryId: string) {
  const headers: [string, string][] = [["Content-Type", "application/json"]];
  const stored = { size: payload.length, headers, codec: "identity" as const, body: payload };
  return { deliveryId, organizationId, ...stored };
}

type User = { id: string; createdAt: Date };

function newUser(index: number, createdAt: Date) {
  const nothing = { passwordHash: null, operatorOfId: null, deactivatedAt: null };
  const email = `user-${index}@example.com`;
  return { id: newId(createdAt), email, name: `User ${index}`, ...nothing, createdAt };
}

async function insertGrants(tx: Tx, base: Base, users: User[]): Promise<void> {
  const { applicationId, organizationId } = base;
  const owner = { organizationId, scopes: client.scopes };
  const approval = { approvedUserAgent: "bench", approvedIp: "127.0.0.1" };
  const unused = { lastUsedAt: null, lastUserAgent: null, lastIp: null };
  const grants = users.flatMap(({ id: userId, createdAt }) =>
    Array.from({ length: grantsPerUser }, () => ({
      ...{ id: newId(createdAt), applicationId, userId, createdAt },
      ...{ ...owner, ...approval, ...unused },
    })),
  );
  await tx.insertMany(tx.tables.grants, grants);
  await tx.insertMany(
    tx.tables.accessTokens,
    grants.map(({ id: grantId, userId, createdAt }) => ({
      ...{ id: newId(createdAt), tokenHash: randomHash(), userId, grantId, createdAt, ...owner },
      description: "Bench",
      expiresAt: new Date(createdAt.getTime() + 365 * dayMs),
      revokedAt: null,
      lastUsedAt: null,
    })),
  );
}

function newAuditEvent({ organizationId, applicationId }: Base, { id: actorId, createdAt }: User) {
  const subject = { subjectType: "application", subjectId: applicationId, subject: "Bench", changes: null };
  return { id: newId(createdAt), organizationId, actorId, action: "authorized", ...subject, createdAt };
}

function newUsedCode(base: Base, { id: userId, createdAt }: User) {
  const code = newCode({ ...base, userId }, { state: "used", createdAt });
  return { ...code, deviceCodeHash: randomHash(), userCodeMac: randomHash() };
}

const triggerFigures = ["deliveries_built", "deliveries_filtered", "deliveries_failed"] as const;
const sampledFigures = ["jobs_waiting", "jobs_running", "agents_connected"] as const;
const queueFigures = [...sampledFigures, "waited_1", "waited_60"] as const;
const sampledHours = 24;

/** Inserts what the charts of pages show: each hour that is kept has all figures, however many rows there are. */
async function insertFigures(tx: Tx, base: Base, now: number): Promise<void> {
  const thisHour = hourOf(new Date(now)).getTime();
  const add = (subjectId: string, figures: readonly FigureName[], minutes: number, from: number) => {
    const count = Math.floor((thisHour - from) / (minutes * minuteMs));
    const times = Array.from({ length: count }, (_, index) => new Date(from + index * minutes * minuteMs));
    const rows = times.flatMap((time, index) =>
      figures.map((figure) => ({ subjectId, time, figure, minutes, value: 1 + (index % 20) })),
    );
    return tx.insertMany(tx.tables.figures, rows);
  };
  const first = hourOf(new Date(now - figureRetentionMs)).getTime() + hourMs;
  await add(base.organizationId, ["builds_created"], 60, first);
  for (const id of base.triggerIds.values()) await add(id, triggerFigures, 60, first);
  for (const id of base.queueIds) {
    await add(id, queueFigures, 60, first);
    await add(id, sampledFigures, sampleMinutes, thisHour - sampledHours * hourMs);
  }
}

function randomHash(): string {
  return randomBytes(32).toString("base64url");
}
