import type { H3Event } from "h3";
import type { RateLimit } from "../../shared/redis/rate-limiter.ts";
import { tooMany } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { ownerOfNetwork } from "../../shared/sharing/owner.ts";
import { rememberRecent } from "../../shared/sharing/recent.ts";
import { loopTurn } from "../../shared/sharing/resources.ts";
import type { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import type { RefusalCause } from "../../shared/vocabulary.ts";
import { clientIp } from "../http/client-address.ts";
import { refusedDeliveriesLimits } from "../http/limits/limits.ts";
import { seconds } from "../http/limits/rate-limit.ts";

/** Faults that need no knowledge but the URL. Later ones count against the organization's limit. */
const countedCauses: ReadonlySet<RefusalCause> = new Set<RefusalCause>([
  "forbidden_address",
  "wrong_content_type",
  "form_content_type",
  "wrong_encoding",
  "too_large",
  "too_slow",
  "too_many_uploads",
  "invalid_signature",
  "long_idempotency_key",
]);

const maxSenders = 10_000;

/**
 * Limits the refused deliveries of a trigger from a network. Anybody may know a URL, and many senders may share a
 * network, so no limit keeps a valid delivery out: beyond it, signatures are checked in turns.
 */
export class RefusedSenders {
  readonly #services: Services;
  /** The times until which senders are over their limits, by limit. */
  readonly #over = rememberRecent<number>(maxSenders);

  constructor(services: Services) {
    this.#services = services;
  }

  /** Runs the check of a signature, in turn if its sender is over the limit. @throws the check's error */
  check(event: H3Event, triggerId: string, check: () => void): Promise<void> | undefined {
    const over = this.#over.size > 0 ? this.#findOver(this.#limitsOf(event, triggerId)) : undefined;
    if (over) return loopTurn(ownerOfNetwork(over.subject), event.req.signal).then(check);
    check();
    return undefined;
  }

  /** Counts a refusal. Throws in its place while its sender is over the limit. @throws Refusal 429 */
  async count(event: H3Event, triggerId: string, { refusalCause }: DeliveryRefusal): Promise<void> {
    if (!countedCauses.has(refusalCause)) return;
    const limits = this.#limitsOf(event, triggerId);
    const over = this.#findOver(limits) ?? (await this.#admit(limits));
    if (!over) return;
    const wait = seconds(this.#leftMs(over));
    const refusal = tooMany(`Too many refused deliveries. Please wait ${wait} seconds.`, { seconds: wait });
    throw Object.assign(refusal, { headers: { ...refusal.headers, Connection: "close" } });
  }

  #limitsOf(event: H3Event, triggerId: string): RateLimit[] {
    return refusedDeliveriesLimits(this.#services, triggerId, clientIp(event));
  }

  #findOver(limits: RateLimit[]): RateLimit | undefined {
    return limits.find((limit) => this.#leftMs(limit) > 0);
  }

  #leftMs({ subject }: RateLimit): number {
    return (this.#over.get(subject) ?? 0) - performance.now();
  }

  /** Takes a slot of each. Returns the first that has none. */
  async #admit(limits: RateLimit[]): Promise<RateLimit | undefined> {
    for (const limit of limits) {
      const { admitted, resetMs } = await this.#services.rateLimiter.admit(limit);
      if (admitted) continue;
      this.#over.set(limit.subject, performance.now() + resetMs);
      return limit;
    }
    return undefined;
  }
}
