import type { Organization } from "../../accounts/organization-store.ts";
import { secondMs } from "../../durations.ts";
import type { RateLimit, RateLimitState } from "../../redis/rate-limiter.ts";
import { retryAfter } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { windows } from "../../sharing/bounds.ts";
import { DeliveryRefusal } from "./refusals.ts";

/** All triggers of an organization share the limit. */
export function deliveriesLimit(organization: {
  organizationId: string;
  deliveriesPerHour: number;
}): RateLimit {
  const { organizationId: subject, deliveriesPerHour: limit } = organization;
  return { name: "deliveries", subject, limit, windowMs: windows.deliveries.windowMs };
}

export function deliveriesUsed(
  { rateLimiter }: Services,
  { id, deliveriesPerHour }: Organization,
): Promise<RateLimitState> {
  return rateLimiter.peek(deliveriesLimit({ organizationId: id, deliveriesPerHour }));
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
