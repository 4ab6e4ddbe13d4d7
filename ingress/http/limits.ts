import type { H3Event } from "h3";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { hourMs, minuteMs } from "../../shared/durations.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Services } from "../../shared/process/services.ts";
import type { RateLimit } from "../../shared/redis/rate-limiter.ts";
import type { CallerNetworks } from "../../shared/sharing/places.ts";
import type { EnabledTrigger } from "../../shared/triggers/deliveries/intake.ts";
import { deliveriesLimit, requireAdmitted } from "../../shared/triggers/deliveries/limit.ts";
import { networkOf, networksOf, wideNetworkOf } from "./network.ts";
import { admitAll, admitShown, limitFailures, seconds, showLimit, tooMany } from "./rate-limit.ts";

const guessingMs = 10 * minuteMs;
/** Agents try again for 45 seconds: a refused call has to come through within them. */
const metaDataWindows = 5;
/** A wide network has the limit of this many networks. */
const wideFactor = 3;

/** Agents that are refused register again ten seconds later. */
const maxRegistrationsPerMinute = 1000;

/** Agents try again for five minutes. */
const maxUploadsPerMinute = 60;

interface Limit {
  max: (config: Config) => number;
  windowMs: number;
}

/** By the name in Redis. Each function below throws a 429 over its limit. */
const limits = {
  // by access token
  rest: { max: (config) => config.apiRequestsPerMinute, windowMs: minuteMs },
  // by build
  "payload-reads": { max: (config) => config.metaDataReadsPerMinute, windowMs: minuteMs },
  // by job
  "meta-data": {
    max: (config) => Math.floor(config.metaDataCallsPerMinute / metaDataWindows),
    windowMs: minuteMs / metaDataWindows,
  },
  // by job
  "pipeline-uploads": { max: () => maxUploadsPerMinute, windowMs: minuteMs },
  // by trigger and network, by trigger and wide network
  "refused-deliveries": { max: (config) => config.deliveryRefusalsPerMinute, windowMs: minuteMs },
  "refused-deliveries-wide": {
    max: (config) => config.deliveryRefusalsPerMinute * wideFactor,
    windowMs: minuteMs,
  },
  // by organization
  registrations: { max: () => maxRegistrationsPerMinute, windowMs: minuteMs },
  // by network, by wide network, by application
  "device-ip": { max: (config) => config.deviceAuthorizationsPerMinute, windowMs: minuteMs },
  "device-wide": { max: (config) => config.deviceAuthorizationsPerMinute * wideFactor, windowMs: minuteMs },
  "device-client": { max: (config) => config.deviceAuthorizationsPerMinuteAndClient, windowMs: minuteMs },
  // by application and network
  "client-failures": { max: (config) => config.clientFailuresPerMinute, windowMs: minuteMs },
  // by grant
  refresh: { max: (config) => config.refreshesPerHour, windowMs: hourMs },
  // by user, by network
  "user-code-user": { max: (config) => config.userCodeFailures, windowMs: guessingMs },
  "user-code-ip": { max: (config) => config.userCodeFailuresPerIp, windowMs: guessingMs },
  // by email address and network, by network, by wide network
  "sign-in": { max: (config) => config.signInFailures, windowMs: guessingMs },
  "sign-in-ip": { max: (config) => config.signInFailuresPerIp, windowMs: guessingMs },
  "sign-in-wide": { max: (config) => config.signInFailuresPerIp * wideFactor, windowMs: guessingMs },
} as const satisfies Record<string, Limit>;

/** Limits the requests of an access token. */
export async function limitApiRequests(services: Services, event: H3Event, tokenId: string): Promise<void> {
  const state = await admitShown(services, event, limitOn(services, "rest", tokenId));
  if (state.admitted) return;
  const { limit, remaining } = state;
  const reset = seconds(state.resetMs);
  throw tooMany(
    reset,
    `You have exceeded your API rate limit. Please wait ${reset} seconds before making more requests.`,
    { scope: "rest", limit, current: limit - remaining, reset },
  );
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

/** Limits the calls of the meta-data API. Never call it for what an agent's life or log depends on. */
export function limitMetaDataCalls(services: Services, jobId: string): Promise<void> {
  return limitJob(services, limitOn(services, "meta-data", jobId), "calls for meta-data");
}

/** Limits the pipeline uploads of a job. */
export function limitPipelineUploads(services: Services, jobId: string): Promise<void> {
  return limitJob(services, limitOn(services, "pipeline-uploads", jobId), "pipeline uploads");
}

async function limitJob({ rateLimiter }: Services, limit: RateLimit, calls: string): Promise<void> {
  const state = await rateLimiter.admit(limit);
  if (state.admitted) return;
  const wait = seconds(state.resetMs);
  throw tooMany(wait, `The job makes too many ${calls}. Please wait ${wait} seconds.`);
}

/** Limits the agents that an organization registers. */
export function limitRegistrations(services: Services, organizationId: string): Promise<void> {
  return admitAll(services, [limitOn(services, "registrations", organizationId)]);
}

/** Limits the reads of a build's webhook payload. */
export async function limitPayloadReads(services: Services, event: H3Event, buildId: string): Promise<void> {
  const state = await admitShown(services, event, limitOn(services, "payload-reads", buildId));
  if (state.admitted) return;
  const reset = seconds(state.resetMs);
  throw tooMany(
    reset,
    `The payload can be read ${state.limit} times a minute. Please wait ${reset} seconds.`,
  );
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

/** Limits the exchanges of refresh tokens. */
export function limitRefreshes(services: Services, grantId: string): Promise<void> {
  return admitAll(services, [limitOn(services, "refresh", grantId)]);
}

/** Limits wrong user codes. */
export function limitUserCodeFailures<T>(
  services: Services,
  userId: string,
  ip: string,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const onUser = limitOn(services, "user-code-user", userId);
  const taken = [onUser, limitOn(services, "user-code-ip", networkOf(ip))];
  return limitFailures(services, "user_code", { taken, check });
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
  // The widest comes first, so that a refused caller opens no windows for invented addresses.
  const taken = [
    limitOn(services, "sign-in-wide", wideNetwork),
    limitOn(services, "sign-in-ip", network),
    limitOn(services, "sign-in", subject),
  ];
  return limitFailures(services, "sign_in", { taken, check: () => check(caller) });
}

function limitOn({ config }: Services, name: keyof typeof limits, subject: string): RateLimit {
  const { max, windowMs } = limits[name];
  return { name, subject, limit: max(config), windowMs };
}
