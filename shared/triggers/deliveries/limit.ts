import type { Organization } from "../../accounts/organization-store.ts";
import type { RateLimit, RateLimitState } from "../../redis/rate-limiter.ts";
import type { Services } from "../../runtime/services.ts";
import { DeliveryRefusal } from "./refusals.ts";

const deliveriesLimitMs = 3_600_000;

/** Deliveries of all triggers of an organization in any hour (spec §8). */
export function deliveriesLimit(of: { organizationId: string; deliveriesPerHour: number }): RateLimit {
  return {
    name: "deliveries",
    subject: of.organizationId,
    limit: of.deliveriesPerHour,
    windowMs: deliveriesLimitMs,
  };
}

/** How much of its hourly limit an organization has used. */
export function deliveriesUsed(
  { rateLimiter }: Services,
  { id, deliveriesPerHour }: Organization,
): Promise<RateLimitState> {
  return rateLimiter.peek(deliveriesLimit({ organizationId: id, deliveriesPerHour }));
}

/** @throws DeliveryRefusal 429 for a window that had no room */
export function requireAdmitted({ admitted, limit, resetMs }: RateLimitState): void {
  if (admitted) return;
  const reset = Math.max(1, Math.ceil(resetMs / 1000));
  throw new DeliveryRefusal("rate_limited", {
    message: `The organization has reached its limit of ${limit} deliveries an hour. Please wait ${reset} seconds.`,
    headers: { "Retry-After": String(reset) },
  });
}
