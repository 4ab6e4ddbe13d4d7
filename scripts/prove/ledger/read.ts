import { createHash } from "node:crypto";
import { asc, count, eq, gt, inArray, isNull, ne } from "drizzle-orm";
import { readBytes } from "../../../shared/agents/logs/read.ts";
import { failForgottenArtifacts } from "../../../shared/artifacts/fail.ts";
import { removeUnnamedBlobs } from "../../../shared/artifacts/remove-unnamed.ts";
import { artifactIdOf, type Blobs } from "../../../shared/blobs/blobs.ts";
import { selectJobs, wholeJob } from "../../../shared/builds/rows/job-store.ts";
import type { Db } from "../../../shared/db/database.ts";
import { countRows } from "../../../shared/db/rows.ts";
import { dayMs } from "../../../shared/durations.ts";
import type { Services } from "../../../shared/services/services.ts";
import { decodeBody } from "../../../shared/triggers/payloads/codec.ts";
import { listEncodedPayloads } from "../../../shared/triggers/payloads/store.ts";
import { unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { keysOfAnswers } from "../installation/steps.ts";
import { numberOf } from "../traffic/bodies.ts";
import { lateMark } from "../traffic/late-writes.ts";

/** A stored delivery, and the post that its bytes are of. */
export interface StoredDelivery {
  id: string;
  status: string | null;
  /** Undefined: the bytes are gone, damaged or of no post. */
  post: { number: number; builds: boolean } | undefined;
}

/** All that the database says at the end. */
export type Ledger = Awaited<ReturnType<typeof readLedger>>;

const payloadsAtOnce = 200;

/** @param blobs undefined: this machine cannot reach them */
export async function readLedger(db: Db, blobs?: Blobs) {
  const { builds, agents, jobTokens, queues, pipelines, deviceCodes, grants, ...tables } = db.tables;
  const { concurrencyMembers, tasks, metaData, accessTokens, auditEvents, artifacts } = tables;
  const isUnblocking = eq(auditEvents.action, "unblocked a step of");
  const hashes = await db.select({ hash: accessTokens.tokenHash }).from(accessTokens);
  return {
    deliveries: await readDeliveries(db),
    builds: await db.select().from(builds),
    jobs: (await selectJobs(db)).map(wholeJob),
    agents: await db.select().from(agents),
    jobTokens: await db.select().from(jobTokens),
    logs: await readLogs(db),
    artifacts: await db.select().from(artifacts),
    blobs: blobs && (await readBlobs(blobs)),
    lateRows: await listLateRows(db),
    entries: await db.select().from(concurrencyMembers),
    tasks: await db.select().from(tasks).where(isDue(db)),
    answers: await db.select().from(metaData).where(inArray(metaData.key, keysOfAnswers)),
    unblockings: await db.select({ buildId: auditEvents.subjectId }).from(auditEvents).where(isUnblocking),
    queues: await db.select().from(queues),
    pipelines: await db.select().from(pipelines),
    deviceCodes: await db.select().from(deviceCodes),
    grants: await db.select().from(grants),
    tokenHashes: hashes.map(({ hash }) => hash),
  };
}

/** The rows that late writes left. */
async function listLateRows(db: Db): Promise<string[]> {
  const { jobLogChunks: chunks, metaData } = db.tables;
  const ofLogs = await db.select().from(chunks).where(eq(chunks.sequence, lateMark.sequence));
  const entries = await db.select().from(metaData).where(eq(metaData.key, lateMark.key));
  return [
    ...ofLogs.map(({ jobId, attempt }) => `a chunk of attempt ${attempt} of job ${jobId}`),
    ...entries.map((entry) => `meta-data of build ${entry.buildId}`),
  ];
}

/** The text of each log, by job and attempt. */
async function readLogs(db: Db): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const log of await db.select().from(db.tables.jobLogs)) {
    const pieces: Buffer[] = [];
    for await (const piece of readBytes(db, { log, isOpen: false })) pieces.push(piece);
    found.set(`${log.jobId} ${log.attempt}`, Buffer.concat(pieces).toString());
  }
  return found;
}

async function readDeliveries(db: Db): Promise<StoredDelivery[]> {
  const { deliveries } = db.tables;
  const found: StoredDelivery[] = [];
  for (let after: string | undefined; ; ) {
    const rows = await db
      .select({ id: deliveries.id, status: deliveries.status })
      .from(deliveries)
      .where(after ? gt(deliveries.id, after) : undefined)
      .orderBy(asc(deliveries.id))
      .limit(payloadsAtOnce);
    const ids = rows.map(({ id }) => id);
    const encoded = await listEncodedPayloads(db, { deliveryIds: ids });
    const bodies = new Map(encoded.map(({ deliveryId, body }) => [deliveryId, body]));
    for (const { id, status } of rows) {
      const body = bodies.get(id);
      const bytes = body && (await decodeBody(body).catch(() => undefined));
      found.push({ id, status, post: bytes && numberOf(bytes) });
    }
    after = ids[payloadsAtOnce - 1];
    if (!after) return found;
  }
}

/** A fan-out looks again for a minute after a pause, and finds nothing. */
function isDue(db: Db) {
  return ne(db.tables.tasks.kind, "pause");
}

/** Deliveries that no worker has decided. */
export async function countWaiting(db: Db): Promise<number> {
  const { deliveries } = db.tables;
  const [row] = await db.select({ total: count() }).from(deliveries).where(isNull(deliveries.status));
  return row?.total ?? 0;
}

/** Jobs that have not ended, and tasks that nobody has done. */
export async function countUnfinished(db: Db): Promise<number> {
  const { jobs, tasks } = db.tables;
  const unfinished = await countRows(db, jobs, inArray(jobs.state, unfinishedJobStates));
  return unfinished + (await countRows(db, tasks, isDue(db)));
}

/** News and messages that nobody has sent, while no job goes on. */
export async function countUntold(db: Db): Promise<number> {
  const { news, outbox } = db.tables;
  const waiting = await countRows(db, outbox, eq(outbox.state, "waiting"));
  return (await countUnfinished(db)) + (await countRows(db, news, undefined)) + waiting;
}

/** Does what workers do two days later: what nobody has finished is given up, what nobody names is removed. */
export async function sweepArtifacts(services: Services): Promise<void> {
  const now = () => new Date(services.clock.now().getTime() + 2 * dayMs);
  const later = { ...services, clock: { ...services.clock, now } };
  await failForgottenArtifacts(later);
  await removeUnnamedBlobs(later);
}

/** Reads all blobs of artifacts, by the artifact's id. */
async function readBlobs(blobs: Blobs) {
  const found = new Map<string, { bytes: number; sha1: string }>();
  for (let after: string | undefined; ; ) {
    const { names, next } = await blobs.list({ after });
    for (const name of names) {
      const id = artifactIdOf(name);
      const content = id && (await blobs.read(name));
      if (!content) continue;
      const hash = createHash("sha1");
      let bytes = 0;
      for await (const piece of content.pieces) {
        hash.update(piece);
        bytes += piece.length;
      }
      found.set(id, { bytes, sha1: hash.digest("hex") });
    }
    if (next === undefined) return found;
    after = next;
  }
}
