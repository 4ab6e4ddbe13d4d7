import { randomUUID } from "node:crypto";
import type { Organization } from "../../accounts/organization-store.ts";
import { createBuildsJob } from "../../jobs/contracts.ts";
import { Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { secretOf } from "../columns.ts";
import type { Trigger } from "../store.ts";
import { requireSignature, signatureHeaders, type TriggerType, typeOfTrigger } from "../types.ts";
import { type Arrival, commitArrivals } from "./accept.ts";
import { checkBody } from "./check.ts";
import { deliveriesLimit, requireAdmitted } from "./limit.ts";
import { DeliveryRefusal, payloadTooLarge } from "./refusals.ts";

const contentType = "application/json";
/** The events that `readIndexed` stores unchanged. */
export const maxEventLength = 255;
const eventPattern = new RegExp(`^[ -~]{1,${maxEventLength}}$`);

/**
 * Sends a test delivery; a webhook's checks and limit apply.
 * @returns the delivery's id
 * @throws DeliveryRefusal 403, 413, 429, 400; Refusal 422 for the event, 503
 */
export async function sendDelivery(
  services: Services,
  { trigger, organization }: { trigger: Trigger; organization: Organization },
  { body, event }: { body: Buffer; event?: string | undefined },
): Promise<string> {
  const { config, cipher, clock, jobs, rateLimiter } = services;
  const type = typeOfTrigger(config.issueTracker, trigger);
  if (event !== undefined && !eventPattern.test(event))
    throw new Refusal(422, `Event must be 1 to ${maxEventLength} characters that a header can hold`);
  if (!trigger.enabled) throw new DeliveryRefusal("disabled");
  if (body.length > config.maxPayloadBytes) throw payloadTooLarge(config.maxPayloadBytes);
  const secret = secretOf(cipher, trigger);
  const now = clock.now();
  const headers = senderHeaders(type, { body, secret, event, now });
  requireSignature({ type, secret }, headers, { body, now });

  const rateLimit = deliveriesLimit({
    organizationId: organization.id,
    deliveriesPerHour: organization.deliveriesPerHour,
  });
  requireAdmitted(await rateLimiter.admit(rateLimit));
  let isAccepted = false;
  try {
    const { id, version } = trigger;
    const arrival = {
      ...toArrival(type, headers),
      trigger: { id, version, organizationId: organization.id },
      body: await checkBody(organization.id, { bytes: body }, { maxDepth: config.maxPayloadDepth }),
    };
    const [acceptance] = await commitArrivals(services, [arrival]);
    isAccepted = acceptance?.outcome === "accepted";
    if (acceptance?.outcome !== "accepted")
      throw new Refusal(409, "The trigger was changed at the same time. Please send again.");
    await jobs.send(createBuildsJob); // the page then shows the build
    return acceptance.id;
  } finally {
    if (!isAccepted) await rateLimiter.giveBack(rateLimit);
  }
}

function senderHeaders(
  type: TriggerType,
  {
    body,
    secret,
    event,
    now,
  }: { body: Buffer; secret: string | undefined; event: string | undefined; now: Date },
): Map<string, string> {
  const { eventHeader, deliveryIdHeader, sampleEvent } = type;
  const headers = new Map([
    ["User-Agent", "Signalbox-Test"],
    ["Content-Type", contentType],
    ["Content-Length", String(body.length)],
  ]);
  if (deliveryIdHeader) headers.set(deliveryIdHeader, randomUUID());
  if (eventHeader) headers.set(eventHeader, event ?? sampleEvent ?? "test");
  const signed = Object.entries(signatureHeaders(type, secret, { body, now }));
  for (const [name, value] of signed) headers.set(name, value);
  return headers;
}

/** Makes an arrival without the signature, which is never stored. */
function toArrival(
  { deliveryIdHeader, eventHeader, signatures }: TriggerType,
  headers: Map<string, string>,
): Omit<Arrival, "trigger" | "body"> {
  const secret = new Set(signatures.map(({ header }) => header));
  return {
    contentType,
    externalId: headers.get(deliveryIdHeader ?? "") ?? null,
    event: headers.get(eventHeader ?? "") ?? null,
    headers: [...headers].map(([name, value]) => [name, secret.has(name) ? null : value]),
    keys: [],
  };
}
