import { allowedAddressesOf } from "../../connections/connected.ts";
import { hashToken } from "../../crypto/tokens.ts";
import { secondMs } from "../../durations.ts";
import type { Services } from "../../services/services.ts";
import { openGatherer } from "../../sharing/gatherer.ts";
import { rememberRecent } from "../../sharing/recent.ts";
import { hostOf } from "../../sources/providers.ts";
import { secretOf } from "../columns.ts";
import { findTriggerByToken } from "../store.ts";
import { type TriggerType, typeOfTrigger } from "../types.ts";
import { type Acceptance, type Arrival, commitArrivals } from "./accept.ts";
import { type BodyCheck, openBodyCheck } from "./check.ts";
import { busy, DeliveryRefusal } from "./refusals.ts";

export interface EnabledTrigger {
  id: string;
  version: number;
  type: TriggerType;
  /** Undefined: deliveries are not verified. */
  secret: string | undefined;
  organizationId: string;
  refusedBodiesUntil: Date | null;
  /** The webhook of a pipeline's provider. */
  isProvider: boolean;
  /** The networks that may send. Null: all. */
  allowedAddresses: readonly string[] | null;
  /** Of its organization: all of its triggers, or all of its providers. */
  deliveriesPerHour: number;
  /** Cached, perhaps stale. */
  isCached: boolean;
}

export interface Intake {
  /** The trigger of a token as it was up to a second ago. */
  findCached(token: string): EnabledTrigger | undefined;
  /** Reads the trigger of a token. @throws DeliveryRefusal 404, 403 */
  requireEnabledTrigger(token: string): Promise<EnabledTrigger>;
  /** @throws DeliveryRefusal 400, 503; the signal's reason */
  checkBody: BodyCheck;
  /** Concurrent deliveries share a commit. @throws DeliveryRefusal 503 after `maxWaitMs` */
  accept(arrival: Arrival): Promise<Acceptance>;
}

const cachedMs = 1000;
const maxCached = 10_000;
const maxBatchItems = 500;
const maxBatchBytes = 8 * 1024 * 1024;
/** A body that waits stays in memory, and its sender gives up. */
const defaultMaxWaitMs = 5 * secondMs;

/** @param maxWaitMs wait for the commits of earlier deliveries */
export function openIntake(services: Services, maxWaitMs = defaultMaxWaitMs): Intake {
  const cached = rememberRecent<EnabledTrigger>(maxCached, { ttl: cachedMs });
  const gatherer = openGatherer<Arrival, Acceptance>({
    flush: (arrivals) => commitArrivals(services, arrivals),
    maxItems: maxBatchItems,
    maxWeight: maxBatchBytes,
    weigh: (arrival) => arrival.body.bytes.length,
    maxWait: { ms: maxWaitMs, error: busy },
  });

  return {
    findCached: (token) => cached.get(token),
    async requireEnabledTrigger(token) {
      cached.delete(token);
      const trigger = await readEnabledTrigger(services, token);
      cached.set(token, { ...trigger, isCached: true });
      return trigger;
    },
    checkBody: openBodyCheck({ maxDepth: services.config.maxPayloadDepth }),
    accept: gatherer.add,
  };
}

async function readEnabledTrigger(services: Services, token: string): Promise<EnabledTrigger> {
  const found = await findTriggerByToken(services.db, hashToken(token));
  if (!found) throw new DeliveryRefusal("not_found");
  const { trigger, organizationId } = found;
  const { isProvider } = trigger;
  if (!trigger.enabled)
    throw new DeliveryRefusal("disabled", {
      trigger: { ...trigger, organizationId },
      ...(isProvider && { message: "Webhooks of this pipeline are switched off" }),
    });
  return {
    id: trigger.id,
    version: trigger.version,
    type: typeOfTrigger(services.config.issueTracker, trigger),
    secret: secretOf(services.cipher, trigger),
    organizationId,
    refusedBodiesUntil: trigger.refusedBodiesUntil,
    isProvider,
    allowedAddresses: isProvider ? await readAllowedAddresses(services, found) : null,
    deliveriesPerHour: isProvider ? services.config.providerDeliveriesPerHour : found.deliveriesPerHour,
    isCached: false,
  };
}

/** The networks that the organization's connection to the pipeline's host allows. */
async function readAllowedAddresses(
  { db }: Services,
  { organizationId, repository }: { organizationId: string; repository: string | null },
): Promise<string[] | null> {
  const host = repository === null ? undefined : hostOf(repository);
  return host === undefined ? null : allowedAddressesOf(db, organizationId, host);
}
