import type { H3Event } from "h3";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { RateLimit, RateLimitState } from "../../../shared/redis/rate-limiter.ts";
import { tooMany } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type WindowBound, windows } from "../../../shared/sharing/bounds.ts";
import type { CallerNetworks } from "../../../shared/sharing/shares.ts";
import type { EnabledTrigger } from "../../../shared/triggers/deliveries/intake.ts";
import { deliveriesLimit, requireAdmitted } from "../../../shared/triggers/deliveries/limit.ts";
import { networkOf, networksOf, wideNetworkOf } from "../network.ts";
import { admitAll, admitShown, limitFailures, seconds, showLimit, showUserLimit } from "./rate-limit.ts";

/** Limits the requests of an access token. */
export async function limitApiRequests(services: Services, event: H3Event, tokenId: string): Promise<void> {
  const state = await admitShown(services, event, limitOn(services, "rest", tokenId));
  showUserLimit(event, state);
  requireCall("rest", state);
}

function requireCall(scope: string, { admitted, limit, remaining, resetMs }: RateLimitState): void {
  if (admitted) return;
  const reset = seconds(resetMs);
  throw tooMany(
    `You have exceeded your API rate limit. Please wait ${reset} seconds before making more requests.`,
    { seconds: reset, details: { scope, limit, current: limit - remaining, reset } },
  );
}

/** By the end of the path. Other calls of a stack end with the id of a job. */
export const callsOfStack = {
  "scheduled-jobs": "list-scheduled-jobs",
  "batch-reserve": "batch-reserve",
  "get-states": "batch-load-job-states",
  finish: "finish-job",
  notifications: "stack-notification",
  deregister: "default",
} as const;

/** Limits the calls of a stack, each kind on its own. */
export async function limitStack(services: Services, event: H3Event, stackId: string): Promise<void> {
  const end = event.url.pathname.split("/").at(-1) as keyof typeof callsOfStack;
  const name = Object.hasOwn(callsOfStack, end) ? callsOfStack[end] : "show-job";
  requireCall(name, await admitShown(services, event, limitOn(services, name, stackId)));
}

/** The state of an access token's limit, without a request that counts. */
export function findApiLimit(services: Services, tokenId: string): Promise<RateLimitState> {
  return services.rateLimiter.peek(limitOn(services, "rest", tokenId));
}

/** Limits the deliveries of an organization. */
export async function limitDeliveries(
  services: Services,
  event: H3Event,
  trigger: EnabledTrigger,
): Promise<void> {
  requireAdmitted(await admitShown(services, event, deliveriesLimit(trigger)));
}

/** Shows the limit of an organization's deliveries in an answer that does not count. */
export function showDeliveriesLimit(
  services: Services,
  event: H3Event,
  trigger: EnabledTrigger,
): Promise<void> {
  return showLimit(services, event, deliveriesLimit(trigger));
}

/** Returns the slot of a delivery that was not kept or was a repetition. */
export async function giveBackDelivery(services: Services, trigger: EnabledTrigger): Promise<void> {
  await services.rateLimiter.giveBack(deliveriesLimit(trigger));
}

/** The limits of a trigger's refused deliveries from the networks of an address. */
export function refusedDeliveriesLimits(services: Services, triggerId: string, ip: string): RateLimit[] {
  return [
    limitOn(services, "refused-deliveries", `${triggerId}:${networkOf(ip)}`),
    limitOn(services, "refused-deliveries-wide", `${triggerId}:wide ${wideNetworkOf(ip)}`),
  ];
}

/** Limits calls of a job. Never call it for what an agent's life or log depends on. */
export async function limitJob(
  services: Services,
  name: "meta-data" | "pipeline-uploads" | "identity-tokens",
  jobId: string,
): Promise<void> {
  const state = await services.rateLimiter.admit(limitOn(services, name, jobId));
  if (state.admitted) return;
  const wait = seconds(state.resetMs);
  throw tooMany(`The job makes too many ${windows[name].what}. Please wait ${wait} seconds.`, {
    seconds: wait,
  });
}

/** Limits calls of an organization, a wide network or a grant. */
export function limitCalls(
  services: Services,
  name: "registrations" | "badges" | "refresh",
  subject: string,
): Promise<void> {
  return admitAll(services, [limitOn(services, name, subject)]);
}

/** Limits the reads of a build's webhook payload. */
export async function limitPayloadReads(services: Services, event: H3Event, buildId: string): Promise<void> {
  const state = await admitShown(services, event, limitOn(services, "payload-reads", buildId));
  if (state.admitted) return;
  const reset = seconds(state.resetMs);
  throw tooMany(`The payload can be read ${state.limit} times a minute. Please wait ${reset} seconds.`, {
    seconds: reset,
  });
}

/** Limits the device codes that are issued. */
export function limitDeviceAuthorizations(
  services: Services,
  applicationId: string,
  ip: string,
): Promise<void> {
  return admitAll(services, [
    limitOn(services, "device-wide", wideNetworkOf(ip)),
    limitOn(services, "device-ip", networkOf(ip)),
    limitOn(services, "device-client", applicationId),
  ]);
}

/** Limits wrong client secrets. Unknown clients share a window: one for each invented id would fill Redis. */
export function limitClientFailures(
  services: Services,
  applicationId: string | undefined,
  ip: string,
): Promise<void> {
  const subject = `${applicationId ?? "unknown"}:${networkOf(ip)}`;
  return admitAll(services, [limitOn(services, "client-failures", subject)]);
}

/** Limits wrong user codes. */
export function limitUserCodeFailures<T>(
  services: Services,
  userId: string,
  ip: string,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const onUser = limitOn(services, "user-code-user", userId);
  const onIp = limitOn(services, "user-code-ip", networkOf(ip));
  return limitFailures(services, "user_code", { taken: [onUser, onIp], check });
}

/** Limits wrong passwords. */
export function limitSignInFailures<T>(
  services: Services,
  email: string,
  ip: string,
  check: (caller: CallerNetworks) => Promise<T | undefined>,
): Promise<T | undefined> {
  const caller = networksOf(ip);
  const { network, wideNetwork } = caller;
  const subject = `${hashToken(email.trim().toLowerCase())}:${network}`;
  return limitFailures(services, "sign_in", {
    taken: [
      limitOn(services, "sign-in-wide", wideNetwork),
      limitOn(services, "sign-in-ip", network),
      limitOn(services, "sign-in", subject),
    ],
    check: () => check(caller),
  });
}

function limitOn({ config }: Services, name: keyof typeof windows, subject: string): RateLimit {
  const { limit, factor, windowMs }: WindowBound = windows[name];
  const max = typeof limit === "number" ? limit : config[limit];
  return { name, subject, limit: Math.floor(max * factor), windowMs };
}
