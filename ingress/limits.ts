import type { H3Event } from "h3";
import type { WindowState } from "../shared/redis/sliding-window.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Services } from "../shared/services.ts";
import type { EnabledTrigger } from "../shared/triggers/intake.ts";
import { DeliveryRefusal } from "../shared/triggers/refusals.ts";
import { setHeaders } from "./respond.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Requests of an access token in any minute. Sets the headers of every authenticated answer; 429 above the limit. */
export async function limitApiRequests(services: Services, event: H3Event, tokenId: string): Promise<void> {
  const limit = services.config.apiRequestsPerMinute;
  const state = await services.windows.take({ name: "rest", subject: tokenId, limit, windowMs: minuteMs });
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
  const state = await services.windows.take(deliveriesWindow(trigger));
  showLimit(event, "deliveries", state, hourMs);
  if (state.admitted) return;
  const reset = seconds(state.resetMs);
  throw new DeliveryRefusal("rate_limited", {
    message: `The organization has reached its limit of ${state.limit} deliveries an hour. Please wait ${reset} seconds.`,
    headers: { "Retry-After": String(reset) },
  });
}

/** A delivery that was not kept, or was a repetition, does not count. */
export async function giveBackDelivery(services: Services, trigger: EnabledTrigger): Promise<void> {
  await services.windows.giveBack(deliveriesWindow(trigger));
}

/** Reads of a build's webhook payload in any minute (spec §8). */
export async function limitPayloadReads(services: Services, event: H3Event, buildId: string): Promise<void> {
  const limit = services.config.metaDataReadsPerMinute;
  const state = await services.windows.take({
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

function deliveriesWindow(trigger: EnabledTrigger) {
  return {
    name: "deliveries",
    subject: trigger.organizationId,
    limit: trigger.deliveriesPerHour,
    windowMs: hourMs,
  };
}

/** The headers that clients wait by, and the pair of the IETF draft. */
function showLimit(event: H3Event, scope: string, state: WindowState, windowMs: number): void {
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
