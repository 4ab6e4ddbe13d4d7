import { artifactBlob, type Blobs } from "../blobs/blobs.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import type { Services } from "../process/services.ts";
import { lockArtifactTotals, uncountArtifact } from "./counting.ts";
import { type Artifact, failIfNew, listOpenBefore, setUncounted } from "./store.ts";

/** Signed uploads end after a day, too. */
const openMs = dayMs;
const maxAtOnce = 200;

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

/** Deletes bytes that no artifact needs any more. If that fails, `removeUnnamedBlobs` removes them later. */
export async function discardBytes(
  { blobs, log }: Pick<Services, "log"> & { blobs: Blobs },
  artifacts: Pick<Artifact, "id" | "uploadId">[],
): Promise<void> {
  if (artifacts.length === 0) return;
  try {
    for (const { id, uploadId } of artifacts)
      if (uploadId !== null) await blobs.direct?.abortUpload(artifactBlob(id), uploadId);
    await blobs.delete(artifacts.map(({ id }) => artifactBlob(id)));
  } catch (error) {
    log.warn({ err: error, artifacts: artifacts.length }, "could not delete the bytes of artifacts");
  }
}

/** new → error, of artifacts that were announced a day ago. @returns their number */
export async function failForgottenArtifacts(services: Services): Promise<number> {
  const { db, clock } = services;
  const time = new Date(clock.now().getTime() - openMs);
  for (let count = 0; ; ) {
    const failed = await db.transaction((tx) => failNext(tx, time));
    await discardBytes(services, failed); // only once that is committed
    count += failed.length;
    if (failed.length === 0) return count;
    await restBetweenTransactions();
  }
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
