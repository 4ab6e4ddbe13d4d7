import { defineHandler, type H3Event, type HTTPResponse } from "h3";
import { isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { freeBuffers } from "../../shared/process/own-buffers.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { seeOwner } from "../../shared/sharing/presence.ts";
import { type Arrival, findReplayedDelivery, keysOf } from "../../shared/triggers/deliveries/accept.ts";
import type { HeldBody } from "../../shared/triggers/deliveries/check.ts";
import type { EnabledTrigger, Intake } from "../../shared/triggers/deliveries/intake.ts";
import type { RefusalCounts } from "../../shared/triggers/deliveries/refusal-counts.ts";
import { DeliveryRefusal, payloadTooLarge } from "../../shared/triggers/deliveries/refusals.ts";
import type { RefusedRequests, RequestParts } from "../../shared/triggers/deliveries/refused-requests.ts";
import { decodeBody, type EncodedBody } from "../../shared/triggers/payloads/codec.ts";
import type { PayloadFormat } from "../../shared/triggers/payloads/form.ts";
import { requireSignature } from "../../shared/triggers/types.ts";
import type { Bodies } from "../http/body.ts";
import { clientIp } from "../http/client-address.ts";
import { answerDeliveryRefusal } from "../http/errors.ts";
import { giveBackDelivery, limitDeliveries, showDeliveriesLimit } from "../http/limits/limits.ts";
import { isInNetworks } from "../http/network.ts";
import { json, setHeader } from "../http/respond.ts";
import { readIdempotencyKey, readIndexed, requireFormat, storedHeaders } from "./headers.ts";
import { RefusedSenders } from "./refused-senders.ts";
import { requestParts } from "./samples.ts";

/** Of triggers JSON alone is promised. */
function takesForms({ isProvider, type }: EnabledTrigger): boolean {
  return isProvider && type.takesForms === true;
}

/**
 * POST /deliver/:token. Stores a delivery, which a worker decides. The webhook of a provider is a trigger here.
 *
 * 1. Check the token's form, without I/O.
 * 2. Find the trigger: 404, or 403 if it is disabled or does not take requests of this address.
 * 3. Check the content type: 415. Some senders may send forms.
 * 4. Read the body: 413, 408, 429, 503.
 * 5. Verify the signature: 401. Too many refusals of the steps 3 to 5: 429 in their place.
 * 6. Answer a repeated Idempotency-Key, or id of a signed message, with the first delivery.
 * 7. Count the delivery against the organization's limit: 429.
 * 8. Check that the body is JSON: 400. Large bodies take turns: 503.
 * 9. Commit the delivery with its payload: 201.
 *
 * The trigger may be a cached one, up to a second old. Its row is read before it refuses or replays a request.
 */
export function deliver(
  services: Services,
  bodies: Bodies,
  parts: { intake: Intake; refusals: RefusalCounts; refusedRequests: RefusedRequests },
) {
  const maxBytes = services.config.maxPayloadBytes;
  const senders = new RefusedSenders(services);
  const door: Door = { services, bodies, senders, ...parts, tooLarge: () => payloadTooLarge(maxBytes) };
  return defineHandler((event) => new Posting(door, event).answer());
}

/** Stands for a body that is not read yet, or that is encoded. */
const noBytes: Buffer = Buffer.alloc(0);

interface Door {
  services: Services;
  bodies: Bodies;
  intake: Intake;
  refusals: RefusalCounts;
  refusedRequests: RefusedRequests;
  senders: RefusedSenders;
  tooLarge: () => DeliveryRefusal;
}

/** One request. A class, because tsx makes named closures slow: it defines a name each time one is made. */
class Posting {
  readonly #door: Door;
  readonly #event: H3Event;
  readonly #token: string;
  /** Perhaps a cached one, which may let a request pass; only the row may refuse it. */
  #trigger: EnabledTrigger | undefined;
  /** Authenticated by the signature. */
  #messageId: string | undefined;
  /** The body as received. Once it is encoded, only that form of it is in memory. */
  #body: HeldBody = { bytes: noBytes };

  constructor(door: Door, event: H3Event) {
    this.#door = door;
    this.#event = event;
    this.#token = event.url.pathname.slice("/deliver/".length);
  }

  async answer(): Promise<HTTPResponse> {
    try {
      return await this.#receive();
    } catch (error) {
      if (!(error instanceof DeliveryRefusal)) throw error;
      const { services, refusals, refusedRequests, senders } = this.#door;
      const trigger = error.trigger ?? this.#trigger;
      if (trigger) {
        refusals.count(trigger, error.refusalCause);
        await senders.count(this.#event, trigger.id, error);
        // After the limit: a sender beyond it must cost no more than its refusal.
        refusedRequests.add(trigger, error.refusalCause, () => this.#readParts());
      }
      return answerDeliveryRefusal(services, this.#event, error);
    }
  }

  #readParts(): RequestParts {
    const { bytes } = this.#body;
    const body = bytes === noBytes ? undefined : bytes;
    return requestParts(this.#event, this.#door.services.config.issueTracker, body);
  }

  async #receive(): Promise<HTTPResponse> {
    const { bodies, intake, services, tooLarge } = this.#door;
    // The token of a cached trigger is well formed.
    const known = intake.findCached(this.#token) ?? (await this.#readTrigger());
    const trigger = known.allowedAddresses === null ? known : await this.#requireAddress(known);
    this.#trigger = trigger;
    const type = requireFormat(this.#event.req.headers, takesForms(trigger));
    const tenant = { organization: trigger.organizationId, trigger: trigger.id };
    const request = await bodies.read(this.#event, services.config.maxPayloadBytes, tooLarge, tenant);
    this.#body = request;
    try {
      return await this.#check(trigger, type);
    } finally {
      request.release();
    }
  }

  /** @throws DeliveryRefusal 400, 404, 403 */
  #readTrigger(): Promise<EnabledTrigger> {
    const isOfTrigger = isWellFormedToken("trigger", this.#token);
    if (!isOfTrigger && !isWellFormedToken("webhook", this.#token))
      throw new DeliveryRefusal("invalid_token");
    return this.#door.intake.requireEnabledTrigger(this.#token);
  }

  /** @throws DeliveryRefusal 403 outside the networks of the trigger */
  async #requireAddress(known: EnabledTrigger): Promise<EnabledTrigger> {
    const isAllowed = ({ allowedAddresses }: EnabledTrigger) =>
      allowedAddresses === null || isInNetworks(allowedAddresses, clientIp(this.#event));
    if (isAllowed(known)) return known;
    const row = known.isCached ? await this.#readTrigger() : known;
    this.#trigger = row;
    if (!isAllowed(row)) throw new DeliveryRefusal("forbidden_address");
    return row;
  }

  async #check(
    known: EnabledTrigger,
    { contentType, format }: ReturnType<typeof requireFormat>,
  ): Promise<HTTPResponse> {
    const { services } = this.#door;
    const event = this.#event;
    let trigger = known;
    try {
      await this.#door.senders.check(event, trigger.id, () => this.#requireSignature(trigger));
    } catch (error) {
      trigger = await this.#readRowIfCached(trigger, error);
    }
    seeOwner(trigger.organizationId);

    const idempotencyKey = readIdempotencyKey(event.req.headers);
    const keys = keysOf(idempotencyKey, this.#messageId);
    const first = keys.length > 0 && (await findReplayedDelivery(services, trigger.id, keys));
    if (first) {
      const row = trigger.isCached ? await this.#readRow() : trigger;
      await showDeliveriesLimit(services, event, row);
      await services.db.sync();
      return replayed(event, first);
    }
    try {
      await limitDeliveries(services, event, trigger);
    } catch (error) {
      trigger = await this.#readRowIfCached(trigger, error);
      await limitDeliveries(services, event, trigger);
    }
    const body = await this.#checkBody(trigger, format);
    // The signature is that of the form, which the JSON alone does not give back.
    const received = this.#body.bytes;
    const form = format === "form" ? received : undefined;
    if (!form && body.bytes !== received) freeBuffers([received]);
    this.#body.bytes = noBytes;
    return await this.#accept(trigger, { contentType, keys, body }, form);
  }

  /** A full server and its faults do not count against the limit; a wrong payload, or a client that goes, does. */
  async #checkBody(trigger: EnabledTrigger, format: PayloadFormat): Promise<EncodedBody> {
    const { req } = this.#event;
    try {
      return await this.#door.intake.checkBody(trigger.organizationId, this.#body, req, format);
    } catch (error) {
      const isWrong = error instanceof DeliveryRefusal && error.refusalCause !== "busy";
      if (!isWrong && error !== req.signal.reason) await giveBackDelivery(this.#door.services, trigger);
      throw error;
    }
  }

  async #readRowIfCached(trigger: EnabledTrigger, error: unknown): Promise<EnabledTrigger> {
    if (!(error instanceof Refusal) || !trigger.isCached) throw error;
    return await this.#readRow();
  }

  async #readRow(): Promise<EnabledTrigger> {
    const row = await this.#door.intake.requireEnabledTrigger(this.#token);
    this.#trigger = row;
    this.#requireSignature(row);
    return row;
  }

  #requireSignature(trigger: EnabledTrigger): void {
    const now = this.#door.services.clock.now();
    this.#messageId = requireSignature(trigger, this.#event.req.headers, { body: this.#body.bytes, now });
  }

  async #accept(
    given: EnabledTrigger,
    content: Pick<Arrival, "contentType" | "keys" | "body">,
    form: Buffer | undefined,
  ): Promise<HTTPResponse> {
    const { services, intake } = this.#door;
    const event = this.#event;
    let trigger = given;
    let isAccepted = false;
    try {
      for (;;) {
        const { deliveryIdHeader, eventHeader, signatures } = trigger.type;
        const headers = storedHeaders(event, signatures);
        const arrival = {
          ...content,
          trigger,
          headers,
          externalId: readIndexed(event.req.headers, deliveryIdHeader),
          event: readIndexed(event.req.headers, eventHeader),
        };
        const acceptance = await intake.accept(arrival);
        if (acceptance.outcome === "replayed") return replayed(event, acceptance.id);
        isAccepted = acceptance.outcome === "accepted";
        if (acceptance.outcome === "accepted") return json(201, { id: acceptance.id });
        this.#body.bytes = form ?? (await decodeBody(content.body)); // for the signature
        trigger = await this.#readRow();
      }
    } finally {
      // A repeated delivery and a fault of the server do not count against the limit.
      if (!isAccepted) await giveBackDelivery(services, trigger);
    }
  }
}

function replayed(event: H3Event, id: string): HTTPResponse {
  setHeader(event, "Idempotent-Replayed", "true");
  return json(201, { id });
}
