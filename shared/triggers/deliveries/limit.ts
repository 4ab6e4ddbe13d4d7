import type { Organization } from "../../accounts/organization-store.ts";
import { secondMs } from "../../durations.ts";
import type { RateLimit, RateLimitState } from "../../redis/rate-limiter.ts";
import { retryAfter } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { windows } from "../../sharing/bounds.ts";
import { DeliveryRefusal } from "./refusals.ts";

/** All triggers of an organization share a limit, and all providers of its pipelines another. */
export function deliveriesLimit({
  organizationId: subject,
  deliveriesPerHour: limit,
  isProvider = false,
}: {
  organizationId: string;
  deliveriesPerHour: number;
  isProvider?: boolean;
}): RateLimit {
  const name = isProvider ? "provider-deliveries" : "deliveries";
  return { name, subject, limit, windowMs: windows[name].windowMs };
}

export function deliveriesUsed(
  { rateLimiter }: Services,
  { id, deliveriesPerHour }: Organization,
): Promise<RateLimitState> {
  return rateLimiter.peek(deliveriesLimit({ organizationId: id, deliveriesPerHour }));
}

/** Says if at least 80 % of a limit is used, which people should know. */
export function isNearLimit({ limit, remaining }: Pick<RateLimitState, "limit" | "remaining">): boolean {
  return limit - remaining >= 0.8 * limit;
}

/** @throws DeliveryRefusal 429 */
export function requireAdmitted({ admitted, limit, resetMs }: RateLimitState): void {
  if (admitted) return;
  const reset = Math.max(1, Math.ceil(resetMs / secondMs));
  throw new DeliveryRefusal("rate_limited", {
    message: `The organization has reached its limit of ${limit} deliveries an hour. Please wait ${reset} seconds.`,
    headers: retryAfter(reset),
  });
}
