import { setTimeout as sleep } from "node:timers/promises";
import { count, eq, inArray } from "drizzle-orm";
import { tasksOfBuilds } from "../../shared/builds/task-handlers.ts";
import { fanOutPause } from "../../shared/dispatch/fan-out.ts";
import { openDueEvents } from "../../shared/process/due.ts";
import type { Services } from "../../shared/services/services.ts";
import { openTasks, type TaskHandler, type TaskHandlers } from "../../shared/tasks/runner.ts";
import { decideAndBuild, publishDecided } from "../../shared/triggers/deliveries/build.ts";
import { openDueDeliveries } from "../../shared/triggers/deliveries/due.ts";
import { lockIfWaiting } from "../../shared/triggers/deliveries/due-store.ts";
import type { EvaluateFilters } from "../../shared/triggers/filter/evaluator.ts";
import type { TaskKind } from "../../shared/vocabulary.ts";
import { post } from "./http.ts";
import type { World } from "./world.ts";

/** Oldest first. */
export async function allBuilds({ services: { db } }: Pick<World, "services">) {
  const { builds } = db.tables;
  return db.select().from(builds).orderBy(builds.id);
}

export async function countBuilds({ services: { db } }: Pick<World, "services">): Promise<number> {
  const [row] = await db.select({ total: count() }).from(db.tables.builds);
  return row?.total ?? 0;
}

export async function buildOfDelivery({ services: { db } }: Pick<World, "services">, deliveryId: string) {
  const { builds } = db.tables;
  const [build] = await db.select().from(builds).where(eq(builds.deliveryId, deliveryId));
  return build;
}

export async function findDelivery({ services: { db } }: Pick<World, "services">, id: string) {
  const { deliveries } = db.tables;
  const [delivery] = await db.select().from(deliveries).where(eq(deliveries.id, id));
  return delivery;
}

export async function buildWebhook(
  world: Pick<World, "services" | "url">,
  path: string,
  payload: string | Buffer<ArrayBuffer> = "{}",
) {
  const { body, status, text } = await post(world.url + path, payload);
  if (status !== 201) throw new Error(text);
  await decide(world.services, [body.id]);
  const build = await buildOfDelivery(world, body.id);
  if (!build) throw new Error("the webhook made no build");
  return build;
}

/** Decides deliveries without a filter, due or not, as a worker does. */
export async function decide(services: Services, ids: string[]): Promise<void> {
  const decided = await services.db.transaction(async (tx) => {
    const deliveries = await lockIfWaiting(tx, { ids });
    return decideAndBuild(tx, services, { deliveries, results: new Map(), maxSize: 1 });
  });
  publishDecided(services, decided);
}

/** Decides what is due, as a worker does. */
export async function decideDue(services: Services, evaluate?: EvaluateFilters): Promise<void> {
  const deliveries = openDueDeliveries(services, evaluate);
  deliveries.wake();
  await deliveries.idle();
  await deliveries.close();
}

/** The process does most tasks right after their commits: for so many looks, they are left to it alone. */
const patientLooks = 10;
const lookEveryMs = 5;

/** Waits for what transactions made due. */
export function openSettling(services: Services) {
  const clock = { ...services.clock, now: () => new Date(Date.now() + 60_000) };
  // It listens to nobody: it would do what the process does, at the same time.
  const worker = openTasks({ ...services, clock, due: openDueEvents() }, tasksOfBuilds);
  return {
    /** The process does what is due, and then so does this worker, until no row is left. */
    async settle(): Promise<void> {
      const { tasks } = services.db.tables;
      const isOfBuilds = inArray(tasks.kind, Object.keys(tasksOfBuilds) as TaskKind[]);
      const isLeft = async () => (await services.db.select().from(tasks).where(isOfBuilds)).length > 0;
      for (let looks = 0; await isLeft(); looks++)
        if (looks < patientLooks) await sleep(lookEveryMs);
        else {
          worker.wake();
          await worker.idle();
        }
    },
    close: () => worker.close(),
  };
}

/** Does the slices of a task, one after the other. */
export async function runSlices(handler: TaskHandler, services: Services, subjectId: string): Promise<void> {
  let place: unknown;
  do place = await handler(services, subjectId, place);
  while (place !== undefined);
}

/** Marks the waiting jobs of a queue as its task does. */
export function fanOut(services: Services, queueId: string): Promise<void> {
  return runSlices(fanOutPause, services, queueId);
}

/** Does the tasks that are due within the next minute. */
export async function doTasks(services: Services, handlers: TaskHandlers): Promise<void> {
  const clock = { ...services.clock, now: () => new Date(services.clock.now().getTime() + 60_000) };
  const runner = openTasks({ ...services, clock }, handlers);
  runner.wake();
  await runner.idle();
  await runner.close();
}
