import type { H3Event } from "h3";
import { hashToken } from "../../shared/crypto/tokens.ts";
import type { RateLimit, RateLimitState } from "../../shared/redis/rate-limiter.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/runtime/services.ts";
import type { EnabledTrigger } from "../../shared/triggers/deliveries/intake.ts";
import {
  deliveriesLimit,
  deliveriesLimitMs,
  requireAdmitted,
} from "../../shared/triggers/deliveries/limit.ts";
import { networkOf } from "./client-address.ts";
import { setHeaders } from "./respond.ts";

const minuteMs = 60_000;
const guessingMs = 10 * minuteMs;

/** Requests of an access token in any minute. Sets the headers of every authenticated answer; 429 above the limit. */
export async function limitApiRequests(services: Services, event: H3Event, tokenId: string): Promise<void> {
  const limit = services.config.apiRequestsPerMinute;
  const state = await services.rateLimiter.admit({
    name: "rest",
    subject: tokenId,
    limit,
    windowMs: minuteMs,
  });
  showLimit(event, "rest", state, minuteMs);
  if (state.admitted) return;
  const reset = seconds(state.resetMs);
  throw new Refusal(
    429,
    `You have exceeded your API rate limit. Please wait ${reset} seconds before making more requests.`,
    {
      headers: { "Retry-After": String(reset) },
      details: { scope: "rest", limit, current: limit - state.remaining, reset },
    },
  );
}

/** Deliveries of all triggers of an organization in any hour (spec §8). */
export async function limitDeliveries(
  services: Services,
  event: H3Event,
  trigger: EnabledTrigger,
): Promise<void> {
  const state = await services.rateLimiter.admit(deliveriesLimit(trigger));
  showLimit(event, "deliveries", state, deliveriesLimitMs);
  requireAdmitted(state);
}

/** A delivery that was not kept, or was a repetition, does not count. */
export async function giveBackDelivery(services: Services, trigger: EnabledTrigger): Promise<void> {
  await services.rateLimiter.giveBack(deliveriesLimit(trigger));
}

/** Reads of a build's webhook payload in any minute (spec §8). */
export async function limitPayloadReads(services: Services, event: H3Event, buildId: string): Promise<void> {
  const limit = services.config.metaDataReadsPerMinute;
  const state = await services.rateLimiter.admit({
    name: "payload-reads",
    subject: buildId,
    limit,
    windowMs: minuteMs,
  });
  showLimit(event, "payload-reads", state, minuteMs);
  if (state.admitted) return;
  const reset = seconds(state.resetMs);
  throw new Refusal(429, `The payload can be read ${limit} times a minute. Please wait ${reset} seconds.`, {
    headers: { "Retry-After": String(reset) },
  });
}

/** Device codes issued in any minute, by the address that asks and by its application. */
export async function limitDeviceAuthorizations(
  services: Services,
  applicationId: string,
  ip: string,
): Promise<void> {
  const { deviceAuthorizationsPerMinute, deviceAuthorizationsPerMinuteAndClient } = services.config;
  await takeAll(services, [
    { name: "device-ip", subject: networkOf(ip), limit: deviceAuthorizationsPerMinute, windowMs: minuteMs },
    {
      name: "device-client",
      subject: applicationId,
      limit: deviceAuthorizationsPerMinuteAndClient,
      windowMs: minuteMs,
    },
  ]);
}

/**
 * Wrong client secrets in any minute, by application and address. Unknown clients of an address count together:
 * with a window for each id that somebody invents, Redis would fill up.
 */
export async function limitClientFailures(
  services: Services,
  applicationId: string | undefined,
  ip: string,
): Promise<void> {
  const subject = `${applicationId ?? "unknown"}:${networkOf(ip)}`;
  const limit = services.config.clientFailuresPerMinute;
  await takeAll(services, [{ name: "client-failures", subject, limit, windowMs: minuteMs }]);
}

/** Wrong user codes, by the user who enters them and by address. */
export function limitUserCodeFailures<T>(
  services: Services,
  userId: string,
  ip: string,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { userCodeFailures, userCodeFailuresPerIp } = services.config;
  const windows = [
    { name: "user-code-user", subject: userId, limit: userCodeFailures, windowMs: guessingMs },
    { name: "user-code-ip", subject: networkOf(ip), limit: userCodeFailuresPerIp, windowMs: guessingMs },
  ];
  return limitFailures(services, windows, check);
}

/** Wrong passwords, by email address and IP address together, and by IP address alone. */
export function limitSignInFailures<T>(
  services: Services,
  email: string,
  ip: string,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { signInFailures, signInFailuresPerIp } = services.config;
  const network = networkOf(ip);
  const subject = `${hashToken(email.trim().toLowerCase())}:${network}`;
  const windows = [
    // First, because the email address is the caller's to choose: who is refused here makes no more windows.
    { name: "sign-in-ip", subject: network, limit: signInFailuresPerIp, windowMs: guessingMs },
    { name: "sign-in", subject, limit: signInFailures, windowMs: guessingMs },
  ];
  return limitFailures(services, windows, check);
}

/**
 * Run a check whose failures are limited. Its slots are taken before and given back on success: to look first
 * and count afterwards would let parallel guesses through.
 * @returns what the check found; undefined is a failure
 * @throws Refusal 429 when there have been too many
 */
async function limitFailures<T>(
  services: Services,
  windows: RateLimit[],
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  await takeAll(services, windows);
  let isFailure = false;
  try {
    const found = await check();
    isFailure = found === undefined;
    return found;
  } finally {
    if (!isFailure) await giveBackAll(services, windows); // what could not be checked does not count either
  }
}

/** A slot of each window, or of none. */
async function takeAll(services: Services, windows: RateLimit[]): Promise<void> {
  const taken: RateLimit[] = [];
  for (const window of windows) {
    const state = await services.rateLimiter.admit(window);
    if (state.admitted) taken.push(window);
    else {
      await giveBackAll(services, taken);
      throw tooMany(seconds(state.resetMs));
    }
  }
}

async function giveBackAll(services: Services, windows: RateLimit[]): Promise<void> {
  await Promise.all(windows.map((window) => services.rateLimiter.giveBack(window)));
}

function tooMany(retryAfterSeconds: number): Refusal {
  return new Refusal(429, `Too many attempts. Please wait ${retryAfterSeconds} seconds, then try again.`, {
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}

/** The headers that clients wait by, and the pair of the IETF draft. */
function showLimit(event: H3Event, scope: string, state: RateLimitState, windowMs: number): void {
  // After a refusal the exact time; otherwise no longer than the window, though a bucket outlives it a little.
  const reset = seconds(state.admitted ? Math.min(state.resetMs, windowMs) : state.resetMs);
  setHeaders(event, {
    "RateLimit-Limit": String(state.limit),
    "RateLimit-Remaining": String(state.remaining),
    "RateLimit-Reset": String(reset),
    "RateLimit-Scope": scope,
    "RateLimit-Policy": `"${scope}";q=${state.limit};w=${windowMs / 1000}`,
    RateLimit: `"${scope}";r=${state.remaining};t=${reset}`,
  });
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
