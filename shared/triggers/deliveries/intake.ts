import { LRUCache } from "lru-cache";
import { hashToken } from "../../crypto/tokens.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { Services } from "../../runtime/services.ts";
import { findTriggerByToken } from "../store.ts";
import { findTriggerType, type TriggerType } from "../types.ts";
import { type Acceptance, type Arrival, commitArrivals } from "./accept.ts";
import { DeliveryRefusal } from "./refusals.ts";

/** A trigger that accepts deliveries, as far as this process knows. */
export interface EnabledTrigger {
  id: string;
  version: number;
  type: TriggerType;
  /** Signing secret; undefined: deliveries are not verified. */
  secret: string | undefined;
  organizationId: string;
  deliveriesPerHour: number;
  /** From memory: a reason to accept at first, never one to refuse. */
  isHint: boolean;
}

/** What deliveries pass through in one process. */
export interface Intake {
  /**
   * The trigger that a token leads to. With `fresh` from its row, else possibly from memory.
   * @throws Refusal 404, 403 (spec §7.3)
   */
  requireEnabledTrigger(token: string, options?: { fresh: boolean }): Promise<EnabledTrigger>;
  /** Keep a delivery for good, together with those that arrive at the same time. */
  accept(arrival: Arrival): Promise<Acceptance>;
}

const hintTtlMs = 1000;
const maxHints = 10_000;
const groupItems = 500;
const groupBytes = 8 * 1024 * 1024;

/** Open the intake of a process. It holds nothing that another process must know of. */
export function openIntake(services: Services): Intake {
  const hints = new LRUCache<string, EnabledTrigger>({ max: maxHints, ttl: hintTtlMs });
  const group = createBatcher<Arrival, Acceptance>({
    flush: (arrivals) => commitArrivals(services, arrivals),
    maxItems: groupItems,
    maxWeight: groupBytes,
    weigh: (arrival) => arrival.body.length,
  });

  return {
    async requireEnabledTrigger(token, { fresh } = { fresh: false }) {
      const hint = fresh ? undefined : hints.get(token);
      if (hint) return hint;
      hints.delete(token);
      const trigger = await readEnabledTrigger(services, token);
      hints.set(token, { ...trigger, isHint: true });
      return trigger;
    },
    accept: (arrival) => group.add(arrival),
  };
}

async function readEnabledTrigger(services: Services, token: string): Promise<EnabledTrigger> {
  const found = await findTriggerByToken(services.db, hashToken(token));
  const type = found && findTriggerType(services.config.issueTracker, found.trigger.type);
  if (!found || !type) throw new DeliveryRefusal("not_found");
  const { trigger, organizationId, deliveriesPerHour } = found;
  if (!trigger.enabled) throw new DeliveryRefusal("disabled", { triggerId: trigger.id });
  return {
    id: trigger.id,
    version: trigger.version,
    type,
    secret: trigger.secretSealed === null ? undefined : services.cipher.open(trigger.secretSealed),
    organizationId,
    deliveriesPerHour,
    isHint: false,
  };
}
