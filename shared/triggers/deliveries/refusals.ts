import { exactSize, Refusal, retryAfter } from "../../refusal.ts";
import type { RefusalCause } from "../../vocabulary.ts";

/** See ingress/webhooks/README.md, "Posting a delivery". */
const answers = {
  wrong_method: [405, "Deliveries are sent with POST"],
  invalid_token: [400, "Invalid pipeline trigger token"],
  not_found: [404, "Pipeline trigger not found"],
  disabled: [403, "Pipeline trigger is disabled"],
  forbidden_address: [403, "Webhooks of this host are not accepted from this address"],
  wrong_content_type: [415, "Content-Type must be application/json"],
  form_content_type: [
    415,
    "Content-Type must be application/json. Choose application/json as the content type in the sender's settings",
  ],
  wrong_encoding: [415, "Content-Encoding must be identity: send the payload uncompressed"],
  too_large: [413, "Payload is larger than 5 MB"],
  too_slow: [408, "The request took too long to arrive"],
  too_many_uploads: [429, "Too many uploads at once. Please wait 5 seconds"],
  invalid_signature: [401, "Invalid webhook signature"],
  long_idempotency_key: [400, "Idempotency-Key is longer than 255 characters"],
  rate_limited: [429, "Too many deliveries"],
  invalid_json: [400, "Payload is not valid JSON"],
  too_deep: [400, "Payload is nested too deeply"],
  busy: [503, "Too many payloads are being processed. Please try again later"],
} as const satisfies Record<RefusalCause, readonly [status: number, message: string]>;

export interface RefusedTrigger {
  id: string;
  organizationId: string;
  refusedBodiesUntil: Date | null;
}

/** A refusal that is counted, but not stored. */
export class DeliveryRefusal extends Refusal {
  readonly refusalCause: RefusalCause;
  readonly trigger: RefusedTrigger | undefined;

  constructor(
    cause: RefusalCause,
    more: { message?: string; headers?: Record<string, string>; trigger?: RefusedTrigger } = {},
  ) {
    const [status, text] = answers[cause];
    super(status, more.message ?? text, more.headers ? { headers: more.headers } : {});
    this.refusalCause = cause;
    this.trigger = more.trigger;
  }
}

export function payloadTooLarge(maxBytes: number): DeliveryRefusal {
  return new DeliveryRefusal("too_large", { message: `Payload is larger than ${exactSize(maxBytes)}` });
}

const busySeconds = 10;

/** Refuses a delivery that has waited too long, or that too many wait before. */
export function busy(): DeliveryRefusal {
  return new DeliveryRefusal("busy", { headers: retryAfter(busySeconds) });
}
