import { asc, count, eq, gt, inArray, isNull, ne } from "drizzle-orm";
import { readBytes } from "../../../shared/agents/logs/read.ts";
import type { Blobs } from "../../../shared/blobs/blobs.ts";
import { selectJobs, wholeJob } from "../../../shared/builds/job-store.ts";
import type { Db } from "../../../shared/db/database.ts";
import { decodeBody } from "../../../shared/triggers/payloads/codec.ts";
import { listEncodedPayloads } from "../../../shared/triggers/payloads/store.ts";
import { unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { keysOfAnswers } from "../installation/steps.ts";
import { numberOf } from "../traffic/bodies.ts";
import { lateMark } from "../traffic/late-writes.ts";
import { readBlobs } from "./read-artifacts.ts";

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
  const { tables } = db;
  const { builds, agents, jobTokens, queues, pipelines, deviceCodes, grants, accessTokens } = tables;
  const { concurrencyMembers, tasks, metaData } = tables;
  return {
    deliveries: await readDeliveries(db),
    builds: await db.select().from(builds),
    jobs: (await selectJobs(db)).map(wholeJob),
    agents: await db.select().from(agents),
    jobTokens: await db.select().from(jobTokens),
    logs: await readLogs(db),
    artifacts: await db.select().from(db.tables.artifacts),
    blobs: blobs && (await readBlobs(blobs)),
    lateRows: await listLateRows(db),
    members: await db.select().from(concurrencyMembers),
    tasks: await db.select().from(tasks).where(isDue(db)),
    answers: await db.select().from(metaData).where(inArray(metaData.key, keysOfAnswers)),
    unblockings: await listUnblockings(db),
    queues: await db.select().from(queues),
    pipelines: await db.select().from(pipelines),
    deviceCodes: await db.select().from(deviceCodes),
    grants: await db.select().from(grants),
    tokenHashes: (await db.select({ hash: accessTokens.tokenHash }).from(accessTokens)).map(
      ({ hash }) => hash,
    ),
  };
}

/** The audited unblockings, by build. */
async function listUnblockings(db: Db): Promise<{ buildId: string }[]> {
  const { auditEvents } = db.tables;
  return db
    .select({ buildId: auditEvents.subjectId })
    .from(auditEvents)
    .where(eq(auditEvents.action, "unblocked a step of"));
}

/** The rows that late writes left. */
async function listLateRows(db: Db): Promise<string[]> {
  const { jobLogChunks, metaData } = db.tables;
  const { jobId, attempt } = jobLogChunks;
  const chunks = await db
    .select({ jobId, attempt })
    .from(jobLogChunks)
    .where(eq(jobLogChunks.sequence, lateMark.sequence));
  const { buildId } = metaData;
  const entries = await db.select({ buildId }).from(metaData).where(eq(metaData.key, lateMark.key));
  return [
    ...chunks.map((chunk) => `a chunk of attempt ${chunk.attempt} of job ${chunk.jobId}`),
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
    const payloads = new Map(
      (await listEncodedPayloads(db, { deliveryIds: ids })).map((payload) => [
        payload.deliveryId,
        payload.body,
      ]),
    );
    for (const { id, status } of rows) {
      const body = payloads.get(id);
      const bytes = body && (await decodeBody(body).catch(() => undefined));
      found.push({ id, status, post: bytes && numberOf(bytes) });
    }
    after = ids[payloadsAtOnce - 1];
    if (!after) return found;
  }
}

/** Jobs that have not ended. */
export async function countUnfinished(db: Db): Promise<number> {
  const { jobs } = db.tables;
  const [row] = await db
    .select({ total: count() })
    .from(jobs)
    .where(inArray(jobs.state, unfinishedJobStates));
  return row?.total ?? 0;
}

/** A fan-out looks again for a minute after a pause, and finds nothing. */
function isDue(db: Db) {
  return ne(db.tables.tasks.kind, "pause");
}

/** Tasks that nobody has done. */
export async function countDue(db: Db): Promise<number> {
  const [row] = await db.select({ total: count() }).from(db.tables.tasks).where(isDue(db));
  return row?.total ?? 0;
}

/** Deliveries that no worker has decided. */
export async function countWaiting(db: Db): Promise<number> {
  const { deliveries } = db.tables;
  const [row] = await db.select({ total: count() }).from(deliveries).where(isNull(deliveries.status));
  return row?.total ?? 0;
}
