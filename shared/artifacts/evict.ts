import { type Batch, runBatches } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { hourOf } from "../durations.ts";
import { type Evictable, type EvictionScope, evict } from "../retention/evict.ts";
import { afterDays } from "../retention/expiring.ts";
import { uncountArtifactRows } from "../retention/records.ts";
import { deleteZeroTotals, subtractFromTotal } from "../retention/totals-store.ts";
import type { Services } from "../services/services.ts";
import { lockArtifactTotals } from "./counting.ts";
import {
  type CountedArtifact,
  deleteArtifacts,
  expireIfCounted,
  listOldestFinished,
  listOwnersOfBuilds,
} from "./expiry-store.ts";
import { openDiscards } from "./fail.ts";

const maxAtOnce = 200;
/** A run leaves the rest of an organization to the next run. */
const defaultMaxBatches = 1000;

interface Removal extends Batch {
  /** Their bytes go once the transaction is committed. */
  removed: CountedArtifact[];
}

/**
 * Expires artifacts past their retention, then the oldest of organizations over their limit. Spares those that their
 * agents have not finished.
 * @param options.isClockTrusted false: keeps those past their retention
 * @returns the number expired
 */
export async function evictArtifacts(
  services: Services,
  { isClockTrusted = true, maxBatches = defaultMaxBatches } = {},
): Promise<number> {
  const discard = openDiscards(services);
  const afterCommit = ({ removed }: Removal) => discard(removed);
  const count = await evict(services, finishedArtifacts, isClockTrusted, { maxBatches, afterCommit });
  if (count > 0) services.log.info({ artifacts: count }, "expired artifacts");
  return count;
}

const finishedArtifacts: Evictable<Removal> = {
  totals: ({ artifactTotals }) => artifactTotals,
  expiry: afterDays("artifactRetentionDays"),
  maxBytes: ({ artifactBytesPerOrganization }) => artifactBytesPerOrganization,
  lock: (tx, organizationId) => lockArtifactTotals(tx, [organizationId]),
  evictNext,
};

async function evictNext(tx: Tx, { organizationId, before, excess }: EvictionScope): Promise<Removal> {
  const oldest = await listOldestFinished(tx, organizationId, maxAtOnce);
  let sum = 0;
  const going = oldest.filter(({ createdAt, size }) => {
    const isGoing = createdAt < before || sum < excess;
    if (isGoing) sum += size;
    return isGoing;
  });
  const removed = await expireIfCounted(
    tx,
    going.map(({ id }) => id),
  );
  await uncountByHour(tx, removed);
  const isLast = going.length < maxAtOnce;
  if (isLast) await deleteZeroTotals(tx, tx.tables.artifactTotals, organizationId, hourOf(before));
  return { count: going.length, isLast, removed };
}

/**
 * Deletes the artifacts of builds that are about to be purged, in small transactions: a build has up to 10,000, which a
 * cascade would delete at once.
 */
export async function purgeArtifactsOfBuilds(
  services: Pick<Services, "db" | "blobs" | "log">,
  buildIds: string[],
): Promise<void> {
  const discard = openDiscards(services);
  await runBatches(services.db, (tx) => purgeNext(tx, buildIds), {
    afterCommit: ({ removed }) => discard(removed),
  });
}

async function purgeNext(tx: Tx, buildIds: string[]): Promise<Removal> {
  const next = await listOwnersOfBuilds(tx, buildIds, maxAtOnce);
  await lockArtifactTotals(tx, [...new Set(next.map(({ organizationId }) => organizationId))]);
  const ids = next.map(({ id }) => id);
  await uncountArtifactRows(tx, ids);
  const deleted = await deleteArtifacts(tx, ids);
  const removed = deleted.filter(({ isCounted }) => isCounted);
  await uncountByHour(tx, removed);
  return { count: next.length, isLast: next.length < maxAtOnce, removed };
}

/** Takes artifacts out of the totals. Call it with these locked. */
async function uncountByHour(tx: Tx, artifacts: CountedArtifact[]): Promise<void> {
  const { artifactTotals } = tx.tables;
  const byHour = Map.groupBy(
    artifacts,
    ({ organizationId, createdAt }) => `${organizationId} ${hourOf(createdAt).getTime()}`,
  );
  for (const [first, ...others] of byHour.values()) {
    if (!first) continue;
    const bytes = others.reduce((sum, { size }) => sum + size, first.size);
    const { organizationId, createdAt } = first;
    await subtractFromTotal(tx, artifactTotals, hourOf(createdAt), { organizationId, bytes });
  }
}
