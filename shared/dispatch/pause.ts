import { type Actor, audit } from "../accounts/audit.ts";
import type { Tx } from "../db/database.ts";
import { auditSubject } from "../queues/queues.ts";
import { findQueue, type Queue } from "../queues/store.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { later } from "../tasks/store.ts";
import { pauseIfRunning, resumeIfPaused } from "./store.ts";

// Dispatch states of a queue:
//
// | state   | event  | next    | effect                          |
// |---------|--------|---------|---------------------------------|
// | running | pause  | paused  | stores user, time and note      |
// | paused  | pause  | paused  | refused; the first note stays   |
// | paused  | resume | running | clears user, time and note      |
// | running | resume | running | refused                         |
//
// A committed pause stops the hand-out of jobs at once (agents/hand-out/hand-out.ts). A task then marks the waiting
// jobs and their builds (fan-out.ts).

/**
 * running → paused.
 * @throws Refusal 404, 422 if it is paused already
 */
export async function pauseDispatch(
  services: Services,
  actor: Actor,
  queue: Queue,
  note: string | null,
): Promise<Queue> {
  return changeDispatch(services, actor, queue, {
    action: "paused",
    refusal: "Cluster queue is already paused",
    transition: (tx) => pauseIfRunning(tx, queue.id, { userId: actor.userId, note, now: tx.now }),
  });
}

/**
 * paused → running.
 * @throws Refusal 404, 422 if it is not paused
 */
export async function resumeDispatch(services: Services, actor: Actor, queue: Queue): Promise<Queue> {
  return changeDispatch(services, actor, queue, {
    action: "resumed",
    refusal: "Cluster queue is not paused",
    transition: (tx) => resumeIfPaused(tx, queue.id),
  });
}

interface DispatchChange {
  action: string;
  refusal: string;
  transition: (tx: Tx) => Promise<Queue | undefined>;
}

async function changeDispatch(
  services: Services,
  actor: Actor,
  queue: Queue,
  { action, refusal, transition }: DispatchChange,
): Promise<Queue> {
  const changed = await services.db.transaction(async (tx) => {
    const next = await transition(tx);
    if (next) {
      await later(tx, "pause", actor.organization.id, [next.id]);
      await audit(tx, actor, action, auditSubject(next));
    } else if (!(await findQueue(tx, queue.clusterId, queue.id))) throw notFound("cluster queue");
    return next;
  });
  if (!changed) throw new Refusal(422, refusal);
  services.events.publish([`queue:${queue.id}`]);
  return changed;
}
