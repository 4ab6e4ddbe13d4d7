import type { Actor } from "../accounts/audit.ts";
import { fanOutDispatchPause } from "../jobs/contracts.ts";
import { recordOfQueue } from "../queues/queues.ts";
import { findQueue, pauseIfRunning, type Queue, resumeIfPaused } from "../queues/store.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";

/**
 * The dispatch of a queue (spec §3.2):
 *
 * | state   | asked  | next    | answer                           |
 * | running | pause  | paused  | who, when and why are kept       |
 * | paused  | pause  | paused  | refused; the first note stays    |
 * | paused  | resume | running | who, when and why are forgotten  |
 * | running | resume | running | refused                          |
 *
 * From the commit on no job of a paused queue is handed out: `assignNextJob` looks at the queue itself. What waits
 * on it learns of it by a job that makes the world match the queue's state of then.
 */
export async function pauseDispatch(
  services: Services,
  actor: Actor,
  queue: Queue,
  note: string | null,
): Promise<Queue> {
  return change(services, actor, queue, "paused", (tx, now) =>
    pauseIfRunning(tx, queue.id, { userId: actor.userId, note, now }),
  );
}

/** @throws Refusal 404, 422 */
export async function resumeDispatch(services: Services, actor: Actor, queue: Queue): Promise<Queue> {
  return change(services, actor, queue, "resumed", (tx) => resumeIfPaused(tx, queue.id));
}

async function change(
  services: Services,
  actor: Actor,
  queue: Queue,
  action: "paused" | "resumed",
  transition: (
    tx: Parameters<Parameters<Services["db"]["transaction"]>[0]>[0],
    now: Date,
  ) => Promise<Queue | undefined>,
): Promise<Queue> {
  const now = services.clock.now();
  const changed = await services.db.transaction(async (tx) => {
    const next = await transition(tx, now);
    if (next) await recordOfQueue(tx, actor, next, action, now);
    else if (!(await findQueue(tx, queue.clusterId, queue.id))) throw notFound("cluster queue");
    return next;
  });
  if (!changed) throw new Refusal(422, `Cluster queue is ${action === "paused" ? "already" : "not"} paused`);
  services.events.publish([`queue:${queue.id}`]);
  await services.jobs.send(fanOutDispatchPause, { queueId: queue.id });
  return changed;
}
