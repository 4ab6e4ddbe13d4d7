import { type Batch, runBatches } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { hourOf } from "../durations.ts";
import type { Services } from "../process/services.ts";
import { type Evictable, type EvictionScope, evict } from "../retention/evict.ts";
import { afterDays } from "../retention/expiring.ts";
import { deleteZeroTotals, subtractFromTotal } from "../retention/totals-store.ts";
import { lockArtifactTotals } from "./counting.ts";
import {
  type CountedArtifact,
  expireIfCounted,
  listCountedOfBuilds,
  listOldestFinished,
} from "./expiry-store.ts";
import { discardBytes } from "./fail.ts";

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
  const expired: CountedArtifact[] = [];
  const finishedArtifacts: Evictable = {
    totals: ({ artifactTotals }) => artifactTotals,
    expiry: afterDays("artifactRetentionDays"),
    maxBytes: ({ artifactBytesPerOrganization }) => artifactBytesPerOrganization,
    lock: (tx, organizationId) => lockArtifactTotals(tx, [organizationId]),
    evictNext: (tx, scope) => evictNext(tx, scope, expired),
  };
  const count = await evict(services, finishedArtifacts, isClockTrusted, { maxBatches });
  await discardBytes(services, expired); // only once that is committed
  if (count > 0) services.log.info({ artifacts: count }, "expired artifacts");
  return count;
}

async function evictNext(
  tx: Tx,
  { organizationId, before, excess }: EvictionScope,
  expired: CountedArtifact[],
): Promise<Batch> {
  const oldest = await listOldestFinished(tx, organizationId, maxAtOnce);
  let sum = 0;
  const going = oldest.filter(({ createdAt, size }) => {
    const isGoing = createdAt < before || sum < excess;
    if (isGoing) sum += size;
    return isGoing;
  });
  expired.push(...(await expire(tx, going)));
  const isLast = going.length < maxAtOnce;
  if (isLast) await deleteZeroTotals(tx, tx.tables.artifactTotals, organizationId);
  return { count: going.length, isLast };
}

/** Takes the artifacts of builds that are about to be purged out of the totals. Their rows go with the builds. */
export async function uncountArtifactsOfBuilds(
  services: Pick<Services, "db" | "blobs" | "log">,
  buildIds: string[],
): Promise<void> {
  const expired: CountedArtifact[] = [];
  await runBatches(services.db, async (tx) => {
    const next = await listCountedOfBuilds(tx, buildIds, maxAtOnce);
    const organizationIds = [...new Set(next.map(({ organizationId }) => organizationId))];
    await lockArtifactTotals(tx, organizationIds);
    expired.push(...(await expire(tx, next)));
    return { count: next.length, isLast: next.length < maxAtOnce };
  });
  await discardBytes(services, expired);
}

/** Call it with the totals locked. */
async function expire(tx: Tx, artifacts: CountedArtifact[]): Promise<CountedArtifact[]> {
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
  return expired;
}
