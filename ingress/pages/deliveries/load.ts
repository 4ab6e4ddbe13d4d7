import { type BuildOfDelivery, listLastBuildsOfDeliveries } from "../../../shared/builds/rows/build-store.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxChanges } from "../../../shared/sources/happened.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import { describeReading, readDelivery } from "../../../shared/triggers/events/read.ts";
import { findPayloadStart } from "../../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { loadDelivery } from "../address/delivery.ts";
import { maxShownBytes } from "../builds/payload.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { maxBuildsOfDelivery } from "./list.tsx";

/** @throws Refusal 404 */
export async function loadDeliveryDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const loaded = await loadDelivery(services, request);
  const builds = await listLastBuildsOfDeliveries(db, [loaded.delivery.id], maxBuildsOfDelivery);
  return {
    ...loaded,
    builds,
    payload: await findPayloadStart(db, loaded.delivery.id, maxShownBytes),
    note: await noteOnEvent(services, { organizationId: request.organization.id, ...loaded, builds }),
  };
}

const noteworthy: Delivery["reason"][] = ["event_not_understood", "other_repository"];

/** Reads the event of a provider anew, if there is something to say about it. The page needs no note. */
async function noteOnEvent(
  services: Services,
  event: { organizationId: string; trigger: Trigger; delivery: Delivery; builds: BuildOfDelivery[] },
): Promise<string | undefined> {
  const { trigger, delivery, builds } = event;
  const hasNote = noteworthy.includes(delivery.reason) || builds.length >= maxChanges;
  if (!trigger.isProvider || !hasNote) return undefined;
  const reading = await readDelivery(services, event).catch((error) => {
    if (!(error instanceof Refusal)) throw error;
    return undefined;
  });
  return reading && describeReading(reading, delivery.reason);
}
