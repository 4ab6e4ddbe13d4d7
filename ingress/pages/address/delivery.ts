import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { requireDelivery } from "../../../shared/triggers/triggers.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { loadReceiver } from "./provider.ts";
import type { LoadedTrigger } from "./trigger.ts";

export interface LoadedDelivery extends LoadedTrigger {
  delivery: Delivery;
}

/** @throws Refusal 404 */
export async function loadDelivery(services: Services, request: MemberRequest): Promise<LoadedDelivery> {
  const loaded = await loadReceiver(services, request);
  const delivery = await requireDelivery(services.db, loaded.trigger, request.parameter("delivery"));
  addCrumbs(request.event, { text: "Delivery", path: deliveryPath(request, { ...loaded, delivery }) });
  return { ...loaded, delivery };
}

/** The delivery's page, or one below it. */
export function deliveryPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  { trigger, delivery }: { trigger: Pick<Trigger, "id">; delivery: Pick<Delivery, "id"> },
  pattern: PatternWith<"org" | "slug" | "trigger" | "delivery"> = patterns.deliveryPage,
): string {
  const parameters = { org: organization.slug, slug: parameter("slug") };
  return pathTo(pattern, { ...parameters, trigger: trigger.id, delivery: delivery.id });
}
