import { randomBytes } from "node:crypto";
import { newScriptJob } from "../../../shared/builds/new-jobs.ts";
import type { Build, Job } from "../../../shared/builds/store.ts";
import { dayMs, hourMs, minuteMs } from "../../../shared/durations.ts";
import { newId } from "../../../shared/ids.ts";
import type { BuildState, JobState } from "../../../shared/vocabulary.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { client } from "../device/contestants.ts";
import type { Base } from "./base.ts";
import type { Bulk } from "./bulk.ts";
import { insertFigures } from "./figures.ts";

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
export async function insertRows(bulk: Bulk, base: Base, count: number): Promise<Inserted> {
  const { tables } = bulk;
  const now = Date.now();
  const timeOf = (index: number) => new Date(now - minuteMs - ((count - index) / count) * days * dayMs);
  const lastBuildNumbers = base.pipelines.map(() => 0);
  let deliveryId = "";

  for (let start = 0; start < count; start += rowsAtOnce) {
    const indexes = Array.from({ length: Math.min(rowsAtOnce, count - start) }, (_, each) => start + each);
    const builds = indexes.map((index) =>
      newBuild(base, lastBuildNumbers, { index, count, time: timeOf(index) }),
    );
    const users = indexes
      .filter((index) => index % grantsPerUser === 0)
      .map((index) => ({ id: newId(timeOf(index)), index, createdAt: timeOf(index) }));
    const deliveries = builds.map(({ pipelineId, deliveryId, createdAt }) =>
      newDelivery(base.triggerIds.get(pipelineId) as string, deliveryId as string, createdAt),
    );
    deliveryId =
      builds.findLast(({ pipelineId }) => pipelineId === base.pipelines[0])?.deliveryId ?? deliveryId;
    const grants = users.flatMap((user) => newGrants(base, user.id, user.createdAt));

    await bulk.insert(tables.deliveries, deliveries);
    await bulk.insert(
      tables.payloads,
      deliveries
        .filter(({ receivedAt }) => now - receivedAt.getTime() < payloadDays * dayMs)
        .map(({ id }) => newPayload(base.organizationId, id)),
    );
    await bulk.insert(tables.builds, builds);
    await bulk.insert(
      tables.jobs,
      builds.map((build) => newJob(base, build)),
    );
    await bulk.insert(
      tables.users,
      users.map(({ id, index, createdAt }) => newUser(id, index, createdAt)),
    );
    await bulk.insert(
      tables.members,
      users.map((user) => ({
        organizationId: base.organizationId,
        userId: user.id,
        role: "member" as const,
        createdAt: user.createdAt,
      })),
    );
    await bulk.insert(tables.grants, grants);
    await bulk.insert(tables.accessTokens, grants.map(newAccessToken));
    await bulk.insert(
      tables.auditEvents,
      users.map((user) => newAuditEvent(base, user)),
    );
    await bulk.insert(
      tables.deviceCodes,
      users.map((user) => newUsedCode(base, user)),
    );
  }
  await insertOwnGrants(bulk, base, new Date(now));
  await insertFigures(bulk, base, now);
  return { lastBuildNumbers, deliveryId };
}

function placeOf(index: number, pipelines: number): number {
  return index % 2 === 0 || pipelines === 1 ? 0 : 1 + (((index - 1) / 2) % (pipelines - 1));
}

interface Place {
  index: number;
  count: number;
  time: Date;
}

/** @param numbers the last one of each pipeline; this build gets the next */
export function newBuild(
  base: Pick<Base, "organizationId" | "pipelines">,
  numbers: number[],
  { index, count, time }: Place,
) {
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

export function newDelivery(triggerId: string, id: string, receivedAt: Date) {
  return {
    id,
    triggerId,
    receivedAt,
    contentType: "application/json",
    externalId: null,
    event: null,
    size: payload.length,
    status: "build_created" as const,
    reason: null,
    enqueuedAt: receivedAt,
  };
}

export function newPayload(organizationId: string, deliveryId: string) {
  const headers: [string, string][] = [["Content-Type", "application/json"]];
  return {
    deliveryId,
    organizationId,
    size: payload.length,
    headers,
    codec: "identity" as const,
    body: payload,
  };
}

function newUser(id: string, index: number, createdAt: Date) {
  const email = `user-${index}@example.com`;
  const nothing = { passwordHash: null, operatorOfId: null, deactivatedAt: null };
  return { id, email, name: `User ${index}`, ...nothing, createdAt };
}

function newGrants({ applicationId, organizationId }: Base, userId: string, createdAt: Date) {
  return Array.from({ length: grantsPerUser }, () => ({
    id: newId(createdAt),
    applicationId,
    userId,
    organizationId,
    scopes: client.scopes,
    approvedUserAgent: "bench",
    approvedIp: "127.0.0.1",
    createdAt,
    lastUsedAt: null,
    lastUserAgent: null,
    lastIp: null,
  }));
}

function newAccessToken(grant: ReturnType<typeof newGrants>[number]) {
  const { userId, organizationId, scopes, createdAt } = grant;
  return {
    id: newId(createdAt),
    tokenHash: randomHash(),
    userId,
    organizationId,
    scopes,
    description: "Bench",
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 365 * dayMs),
    revokedAt: null,
    grantId: grant.id,
    lastUsedAt: null,
  };
}

function newAuditEvent({ organizationId, applicationId }: Base, user: { id: string; createdAt: Date }) {
  return {
    id: newId(user.createdAt),
    organizationId,
    actorId: user.id,
    action: "authorized",
    subjectType: "application",
    subjectId: applicationId,
    subject: "Bench",
    changes: null,
    createdAt: user.createdAt,
  };
}

function newUsedCode({ applicationId, organizationId }: Base, user: { id: string; createdAt: Date }) {
  const { id: userId, createdAt } = user;
  return {
    id: newId(createdAt),
    deviceCodeHash: randomHash(),
    userCodeMac: randomHash(),
    applicationId,
    scopes: client.scopes,
    state: "used" as const,
    preselectedOrganizationId: null,
    requestIp: "127.0.0.1",
    requestUserAgent: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + hourMs),
    claimedById: userId,
    cameByLink: false,
    decidedAt: createdAt,
    organizationId,
    grantedScopes: client.scopes,
    approvedUserAgent: "bench",
    approvedIp: "127.0.0.1",
  };
}

/** Grants of the user who looks at pages: as many, however many others have. */
async function insertOwnGrants(bulk: Bulk, base: Base, now: Date): Promise<void> {
  const grants = newGrants(base, base.visitorId, now);
  await bulk.insert(bulk.tables.grants, grants);
  await bulk.insert(bulk.tables.accessTokens, grants.map(newAccessToken));
}

function randomHash(): string {
  return randomBytes(32).toString("base64url");
}
