import type { H3Event } from "h3";
import { secondMs } from "../../../shared/durations.ts";
import type { RateLimit, RateLimitState, RateLimits } from "../../../shared/redis/rate-limiter.ts";
import { Refusal, tooMany } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { nodeResponse } from "../node.ts";

/** As metrics name them. */
type Attempt = "sign_in" | "user_code";

/**
 * Runs a check and limits its failures, which return undefined, and its refusals with 429. Takes the slots before the
 * check: counting afterwards would let parallel guesses through.
 */
export async function limitFailures<T>(
  services: Services,
  attempt: Attempt,
  { taken, check }: { taken: RateLimits; check: () => Promise<T | undefined> },
): Promise<T | undefined> {
  let cause: "wrong" | "too_many" | undefined;
  let isTaken = false;
  try {
    await admitAll(services, taken);
    isTaken = true;
    const found = await check();
    if (found === undefined) cause = "wrong";
    return found;
  } catch (error) {
    if (error instanceof Refusal && error.status === 429) cause = "too_many";
    throw error;
  } finally {
    if (cause) services.metrics.attemptsRefused.inc({ attempt, cause });
    else if (isTaken) await Promise.all(taken.map((limit) => services.rateLimiter.giveBack(limit)));
  }
}

/** Takes a slot of each limit, or of none. @throws Refusal 429 */
export async function admitAll({ rateLimiter }: Services, wanted: RateLimits): Promise<void> {
  const state = await rateLimiter.admit(...wanted);
  if (state.admitted) return;
  const wait = seconds(state.resetMs);
  throw tooMany(`Too many attempts. Please wait ${wait} seconds, then try again.`, { seconds: wait });
}

/** Takes a slot and sets the rate-limit headers, old and new (IETF draft). */
export async function admitShown(
  services: Services,
  event: H3Event,
  limit: RateLimit,
): Promise<RateLimitState> {
  const state = await services.rateLimiter.admit(limit);
  stageRateLimit(event, limit, state);
  return state;
}

/** Sets the headers by which clients learn the limit of a user. Each token is of one, and has a limit of its own. */
export function showUserLimit(event: H3Event, { limit, remaining, resetMs }: RateLimitState): void {
  const response = nodeResponse(event);
  response.stage("RateLimit-User-Limit", String(limit));
  response.stage("RateLimit-User-Remaining", String(remaining));
  response.stage("RateLimit-User-Reset", String(seconds(resetMs)));
  response.stage("RateLimit-User-Scope", "rest_user");
}

/** Sets the rate-limit headers and takes no slot. */
export async function showLimit(services: Services, event: H3Event, limit: RateLimit): Promise<void> {
  stageRateLimit(event, limit, await services.rateLimiter.peek(limit));
}

function stageRateLimit(event: H3Event, { name, windowMs }: RateLimit, state: RateLimitState): void {
  const response = nodeResponse(event);
  const limit = String(state.limit);
  const remaining = String(state.remaining);
  // A bucket lives a little longer than the window.
  const reset = String(seconds(state.admitted ? Math.min(state.resetMs, windowMs) : state.resetMs));
  response.stage("RateLimit-Limit", limit);
  response.stage("RateLimit-Remaining", remaining);
  response.stage("RateLimit-Reset", reset);
  response.stage("RateLimit-Scope", name);
  response.stage("RateLimit-Policy", `"${name}";q=${limit};w=${windowMs / secondMs}`);
  response.stage("RateLimit", `"${name}";r=${remaining};t=${reset}`);
}

/** Whole seconds, rounded up: 1 at least. */
export function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / secondMs));
}
