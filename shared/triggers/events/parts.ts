import { type BuildRequest, createBuilds } from "../../builds/making/builds.ts";
import { TooManyJobs } from "../../builds/making/too-many-jobs.ts";
import type { Tx } from "../../db/database.ts";
import type { Services } from "../../services/services.ts";

/**
 * Makes builds. Of a delivery that asks for more than one transaction can make, it makes the first ones.
 * @param maxSize as in `createBuilds`
 * @returns left: the deliveries of which some are left
 * @throws TooManyJobs if several deliveries ask for too many, or `maxSize` leaves large builds out
 */
export async function createParts(
  tx: Tx,
  services: Services,
  { requests, maxSize }: { requests: BuildRequest[]; maxSize: number },
) {
  const now = services.clock.now();
  try {
    return { ...(await createBuilds(tx, services, requests, now, maxSize)), left: [] };
  } catch (error) {
    const left = [...new Set(requests.map(({ deliveryId }) => deliveryId ?? ""))];
    const isOne = left.length === 1 && requests.length > 1;
    if (!(error instanceof TooManyJobs) || !isOne || maxSize < 1) throw error;
    const first = new Set<object>(error.excesses[0]?.parts[0]);
    const part = requests.filter((request) => first.has(request));
    return { ...(await createBuilds(tx, services, part, now, maxSize)), left };
  }
}

/**
 * Parts of deliveries that a transaction each may build. A delivery whose builds are in several parts, or are several of
 * one, has transactions of its own: as many as it needs.
 */
export function partsOfDeliveries(parts: { deliveryId: string | null }[][]): string[][] {
  const byDelivery = Map.groupBy(parts.flat(), ({ deliveryId }) => deliveryId ?? "");
  const isSeveral = (id: string) => (byDelivery.get(id)?.length ?? 0) > 1;
  return parts.flatMap((part) => {
    const ids = [...new Set(part.map(({ deliveryId }) => deliveryId ?? ""))];
    const several = ids.filter(isSeveral);
    const single = ids.filter((id) => !isSeveral(id));
    return [...(single.length > 0 ? [single] : []), ...several.map((id) => [id])];
  });
}
