import { listLastBuildsOfDeliveries } from "../../../shared/builds/rows/build-store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { findPayloadStart } from "../../../shared/triggers/payloads/store.ts";
import { loadDelivery } from "../address/delivery.ts";
import { maxShownBytes } from "../builds/payload.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { maxBuildsOfDelivery } from "./list.tsx";

/** @throws Refusal 404 */
export async function loadDeliveryDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const loaded = await loadDelivery(services, request);
  return {
    ...loaded,
    builds: await listLastBuildsOfDeliveries(db, [loaded.delivery.id], maxBuildsOfDelivery),
    payload: await findPayloadStart(db, loaded.delivery.id, maxShownBytes),
  };
}
