import { defineHandler, type H3Event, type HTTPResponse } from "h3";
import { isWellFormedToken } from "../../shared/crypto/tokens.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { type Arrival, findReplayedDelivery } from "../../shared/triggers/deliveries/accept.ts";
import type { EnabledTrigger, Intake } from "../../shared/triggers/deliveries/intake.ts";
import type { RefusalCounts } from "../../shared/triggers/deliveries/refusal-counts.ts";
import { DeliveryRefusal, payloadTooLarge } from "../../shared/triggers/deliveries/refusals.ts";
import { findPayloadProblem } from "../../shared/triggers/payloads/problem.ts";
import { requireSignature } from "../../shared/triggers/types.ts";
import type { Bodies } from "../http/body.ts";
import { giveBackDelivery, limitDeliveries } from "../http/limits.ts";
import { json, setHeader } from "../http/respond.ts";
import { readExternalId, readIdempotencyKey, requireJson, storedHeaders } from "./headers.ts";
import { HintedTrigger } from "./hinted-trigger.ts";

/**
 * POST /deliver/:token. Stores a delivery, which a worker decides.
 *
 * 1. Check the token's form, without I/O.
 * 2. Find the trigger: 404, or 403 if it is disabled.
 * 3. Check the content type: 415.
 * 4. Read the body: 413.
 * 5. Verify the signature: 401.
 * 6. Answer a repeated Idempotency-Key with the first delivery.
 * 7. Count the delivery against the organization's limit: 429.
 * 8. Check that the body is JSON: 400.
 * 9. Commit the delivery with its payload: 201.
 *
 * The trigger may be a hint, up to a second old. Its row is read before it refuses or replays a request.
 */
export function deliver(
  services: Services,
  bodies: Bodies,
  { intake, refusals }: { intake: Intake; refusals: RefusalCounts },
) {
  const { maxPayloadBytes, maxPayloadDepth } = services.config;
  const tooLarge = () => payloadTooLarge(maxPayloadBytes);

  const receive = async (event: H3Event, seen: { trigger?: EnabledTrigger }) => {
    const token = requireToken(event);
    const { headers } = event.req;
    seen.trigger = await intake.requireEnabledTrigger(token);
    const contentType = requireJson(headers);
    using request = await bodies.read(event, maxPayloadBytes, tooLarge);
    const body = request.bytes;

    const verify = (current: EnabledTrigger) => requireSignature(current, (name) => headers.get(name), body);
    const trigger = new HintedTrigger(seen.trigger, async () => {
      const row = await intake.requireEnabledTrigger(token, { fresh: true });
      verify(row);
      return row;
    });
    await trigger.check(verify);

    const idempotencyKey = readIdempotencyKey(headers);
    const first = idempotencyKey && (await findReplayedDelivery(services, seen.trigger.id, idempotencyKey));
    if (first) {
      if (trigger.current.isHint) await trigger.refresh();
      return replayed(event, first);
    }
    await trigger.check((current) => limitDeliveries(services, event, current));
    await requireWellFormed(body, maxPayloadDepth);
    return await accept(event, trigger, { contentType, idempotencyKey, body });
  };

  const accept = async (
    event: H3Event,
    trigger: HintedTrigger,
    request: Pick<Arrival, "contentType" | "idempotencyKey" | "body">,
  ) => {
    const headers = storedHeaders(event);
    let isAccepted = false;
    try {
      for (;;) {
        const { current } = trigger;
        const externalId = readExternalId(event.req.headers, current.type.deliveryIdHeader);
        const acceptance = await intake.accept({ ...request, trigger: current, externalId, headers });
        if (acceptance.outcome === "replayed") return replayed(event, acceptance.id);
        isAccepted = acceptance.outcome === "accepted";
        if (acceptance.outcome === "accepted") return json(201, { id: acceptance.id });
        await trigger.refresh();
      }
    } finally {
      // A repeated delivery and a fault of the server do not count against the limit.
      if (!isAccepted) await giveBackDelivery(services, trigger.current);
    }
  };

  return defineHandler(async (event) => {
    const seen: { trigger?: EnabledTrigger } = {};
    try {
      return await receive(event, seen);
    } catch (error) {
      const triggerId = error instanceof DeliveryRefusal && (error.triggerId ?? seen.trigger?.id);
      if (triggerId) refusals.count(triggerId, error.refusalCause);
      throw error;
    }
  });
}

/** @throws DeliveryRefusal 400 */
function requireToken(event: H3Event): string {
  const token = event.url.pathname.slice("/deliver/".length);
  if (!isWellFormedToken("trigger", token)) throw new DeliveryRefusal("invalid_token");
  return token;
}

/** @throws DeliveryRefusal 400 */
async function requireWellFormed(body: Buffer, maxDepth: number): Promise<void> {
  const problem = await findPayloadProblem(body, maxDepth);
  if (problem) throw new DeliveryRefusal(problem);
}

function replayed(event: H3Event, id: string): HTTPResponse {
  setHeader(event, "Idempotent-Replayed", "true");
  return json(201, { id });
}
