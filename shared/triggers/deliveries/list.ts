import type { CursorPage } from "../../db/cursor-page.ts";
import type { Services } from "../../services/services.ts";
import { findReplayedDelivery, keysOf } from "./accept.ts";
import { type Delivery, type DeliveryFilter, listDeliveriesPage } from "./store.ts";

export type DeliverySearch = Omit<DeliveryFilter, "id"> & {
  /** The sender's own id, or an Idempotency-Key of the last day. */
  sentAs?: string | undefined;
};

/** A page of a trigger's deliveries. @throws Refusal 503 if it has to look at too many */
export async function searchDeliveries(
  services: Services,
  triggerId: string,
  page: CursorPage,
  { sentAs, ...filter }: DeliverySearch,
): Promise<Delivery[]> {
  if (sentAs === undefined) return listDeliveriesPage(services.db, triggerId, page, filter);
  const id = await findReplayedDelivery(services, triggerId, keysOf(sentAs, undefined));
  const named = id === undefined ? { externalId: sentAs } : { id };
  return listDeliveriesPage(services.db, triggerId, page, { ...filter, ...named });
}
