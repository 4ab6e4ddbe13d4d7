import { artifactBlob, type Blobs } from "../blobs/blobs.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import { lockArtifactTotals, uncountArtifact } from "./counting.ts";
import { type Artifact, failIfNew, listOpenBefore, listOpenOfEndedJobs, setUncounted } from "./store.ts";

/** Signed uploads end after a day, too. */
const openMs = dayMs;
const maxAtOnce = 200;
/** A run leaves the rest to the next. */
const maxOfEndedJobs = 10_000;

/** new → error. None of them is counted any more. @returns those that changed */
export async function failArtifacts(tx: Tx, organizationId: string, ids: string[]): Promise<Artifact[]> {
  if (ids.length === 0) return [];
  await lockArtifactTotals(tx, [organizationId]);
  const failed = await failIfNew(tx, ids);
  const counted = failed.filter(({ isCounted }) => isCounted);
  for (const each of counted) await uncountArtifact(tx, each);
  await setUncounted(
    tx,
    counted.map(({ id }) => id),
  );
  return failed;
}

type Stored = Pick<Artifact, "id" | "uploadId">;

/**
 * Deletes bytes that no artifact needs any more. Call it once that is committed. Should it fail, the sweep of blobs
 * deletes them.
 * @returns false if it failed
 */
export async function discardBytes(
  { blobs, log }: Pick<Services, "log"> & { blobs: Blobs },
  artifacts: Stored[],
): Promise<boolean> {
  if (artifacts.length === 0) return true;
  try {
    for (const { id, uploadId } of artifacts)
      if (uploadId !== null) await blobs.direct?.abortUpload(artifactBlob(id), uploadId);
    await blobs.delete(artifacts.map(({ id }) => artifactBlob(id)));
    return true;
  } catch (error) {
    log.warn({ err: error, artifacts: artifacts.length }, "could not delete the bytes of artifacts");
    return false;
  }
}

/** For a run of many batches: once the store is away, the sweep of blobs has the rest. */
export function openDiscards(services: Pick<Services, "blobs" | "log">) {
  let isAway = false;
  return async (artifacts: Stored[]): Promise<void> => {
    if (!isAway) isAway = !(await discardBytes(services, artifacts));
  };
}

/**
 * new → error, of artifacts that were announced a day ago, and of those of jobs that have ended: no agent can finish
 * them, and the bytes that they announced take room.
 * @returns their number
 */
export async function failForgottenArtifacts(services: Services): Promise<number> {
  const { db, clock } = services;
  const time = new Date(clock.now().getTime() - openMs);
  for (let count = await failOfEndedJobs(services); ; ) {
    const failed = await db.transaction((tx) => failNext(tx, time));
    await discardBytes(services, failed); // only once that is committed
    count += failed.length;
    if (failed.length === 0) return count;
    await restBetweenTransactions();
  }
}

async function failOfEndedJobs(services: Services): Promise<number> {
  const open = await listOpenOfEndedJobs(services.db, maxOfEndedJobs);
  let count = 0;
  for (const [organizationId, own] of Map.groupBy(open, (each) => each.organizationId))
    for (let at = 0; at < own.length; at += maxAtOnce) {
      const ids = own.slice(at, at + maxAtOnce).map(({ id }) => id);
      const failed = await services.db.transaction((tx) => failArtifacts(tx, organizationId, ids));
      await discardBytes(services, failed);
      count += failed.length;
      await restBetweenTransactions();
    }
  return count;
}

/** Fails those of the oldest open artifacts that have the organization of the first. */
async function failNext(tx: Tx, time: Date): Promise<Artifact[]> {
  const open = await listOpenBefore(tx, time, maxAtOnce);
  const [first] = open;
  if (!first) return [];
  const own = open.filter(({ organizationId }) => organizationId === first.organizationId);
  return failArtifacts(
    tx,
    first.organizationId,
    own.map(({ id }) => id),
  );
}
