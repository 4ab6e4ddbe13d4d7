import { type Batch, runBatches } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { hourOf } from "../durations.ts";
import type { Services } from "../process/services.ts";
import { type Evictable, type EvictionScope, evict } from "../retention/evict.ts";
import { afterDays } from "../retention/expiring.ts";
import { deleteZeroTotals, lockTotalsOf, subtractFromTotal } from "../retention/totals-store.ts";
import {
  type CountedArtifact,
  expireIfCounted,
  listCountedOfBuilds,
  listOldestFinished,
} from "./expiry-store.ts";

const maxAtOnce = 200;
/** A run leaves the rest of an organization to the next run. */
const defaultMaxBatches = 1000;

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
  const expired = await evict(services, finishedArtifacts, isClockTrusted, { maxBatches });
  if (expired > 0) services.log.info({ artifacts: expired }, "expired artifacts");
  return expired;
}

const finishedArtifacts: Evictable = {
  totals: ({ artifactTotals }) => artifactTotals,
  expiry: afterDays("artifactRetentionDays"),
  maxBytes: ({ artifactBytesPerOrganization }) => artifactBytesPerOrganization,
  lock: (tx, organizationId) => lockTotalsOf(tx, tx.tables.artifactTotals, [organizationId]),
  evictNext,
};

async function evictNext(tx: Tx, { organizationId, before, excess }: EvictionScope): Promise<Batch> {
  const oldest = await listOldestFinished(tx, organizationId, maxAtOnce);
  let sum = 0;
  const going = oldest.filter(({ createdAt, size }) => {
    const isGoing = createdAt < before || sum < excess;
    if (isGoing) sum += size;
    return isGoing;
  });
  await expire(tx, going);
  const isLast = going.length < maxAtOnce;
  if (isLast) await deleteZeroTotals(tx, tx.tables.artifactTotals, organizationId);
  return { count: going.length, isLast };
}

/** Takes the artifacts of builds that are about to be purged out of the totals. Their rows go with the builds. */
export async function uncountArtifactsOfBuilds(
  { db }: Pick<Services, "db">,
  buildIds: string[],
): Promise<void> {
  await runBatches(db, async (tx) => {
    const next = await listCountedOfBuilds(tx, buildIds, maxAtOnce);
    const organizationIds = [...new Set(next.map(({ organizationId }) => organizationId))];
    await lockTotalsOf(tx, tx.tables.artifactTotals, organizationIds);
    await expire(tx, next);
    return { count: next.length, isLast: next.length < maxAtOnce };
  });
}

/** Call it with the totals locked. */
async function expire(tx: Tx, artifacts: CountedArtifact[]): Promise<void> {
  const expired = await expireIfCounted(
    tx,
    artifacts.map(({ id }) => id),
  );
  const { artifactTotals } = tx.tables;
  const byHour = Map.groupBy(
    expired,
    ({ organizationId, createdAt }) => `${organizationId} ${hourOf(createdAt).getTime()}`,
  );
  for (const [first, ...others] of byHour.values()) {
    if (!first) continue;
    const bytes = others.reduce((sum, { size }) => sum + size, first.size);
    const { organizationId, createdAt } = first;
    await subtractFromTotal(tx, artifactTotals, hourOf(createdAt), { organizationId, bytes });
  }
}
