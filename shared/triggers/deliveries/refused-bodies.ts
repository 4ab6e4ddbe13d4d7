import type { Actor } from "../../accounts/audit.ts";
import { hourMs } from "../../durations.ts";
import { notFound } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { type Trigger, updateIfPresent } from "../store.ts";
import { auditTrigger, publishTriggerChange } from "../triggers.ts";

const keptForMs = hourMs;

/** Returns the time until which a trigger keeps the bodies of refused requests. Undefined: it keeps none. */
export function refusedBodiesUntil(
  { refusedBodiesUntil: until }: Pick<Trigger, "refusedBodiesUntil">,
  now: Date,
): Date | undefined {
  return until !== null && until > now ? until : undefined;
}

/**
 * Keeps the bodies of refused requests for the next hour, or no longer. A body may hold a secret, so a member has to
 * ask.
 * @throws Refusal 404
 */
export async function keepRefusedBodies(
  services: Services,
  actor: Actor,
  { id }: Pick<Trigger, "id">,
  isKept: boolean,
): Promise<void> {
  const changed = await services.db.transaction(async (tx) => {
    const { now } = tx;
    const until = isKept ? new Date(now.getTime() + keptForMs) : null;
    const stamp = { updatedAt: now, updatedById: actor.userId };
    const updated = await updateIfPresent(tx, id, { refusedBodiesUntil: until, ...stamp });
    if (!updated) throw notFound("pipeline trigger");
    const action = isKept
      ? "switched on for an hour the bodies of refused requests of"
      : "switched off the bodies of refused requests of";
    await auditTrigger(tx, actor, updated, action);
    return updated;
  });
  publishTriggerChange(services, changed);
}
