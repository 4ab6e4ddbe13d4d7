import type { Db, Tx } from "../db/database.ts";
import { listStepQueues } from "../queues/store.ts";
import { excerpt, type Problem } from "../refusal.ts";
import { type CommandStep, commandsOf, isCommandStep, isGroupStep, type Step } from "../vocabulary.ts";
import { agentsOfJobs } from "./step/agents.ts";

/** Returns the id of the queue that runs a step in the cluster. Of several that a matrix names, the first. */
export type QueueOfStep = (clusterId: string, step: CommandStep) => string | undefined;

/** Finds the queues that the steps name or default to, in one statement. */
export async function resolveStepQueues(
  db: Db | Tx,
  pipelines: { clusterId: string; steps: Step[] }[],
): Promise<QueueOfStep> {
  const clusterIds = [...new Set(pipelines.map((pipeline) => pipeline.clusterId))];
  const keys = new Set(
    pipelines
      .flatMap(({ steps }) => commandsOf(steps).flatMap(queueKeysOf))
      .filter((key) => key !== undefined),
  );
  const byKey = new Map<string, string>();
  const defaults = new Map<string, string>();
  for (const queue of await listStepQueues(db, { clusterIds, keys: [...keys] })) {
    byKey.set(`${queue.clusterId} ${queue.key}`, queue.id);
    if (queue.id === queue.defaultQueueId) defaults.set(queue.clusterId, queue.id);
  }

  return (clusterId, step) => {
    const ids = queueKeysOf(step).map((key) =>
      key === undefined ? defaults.get(clusterId) : byKey.get(`${clusterId} ${key}`),
    );
    return ids.every((id) => id !== undefined) ? ids[0] : undefined;
  };
}

/** The queues of the jobs that a step becomes, each once. Undefined: the default of the cluster. */
function queueKeysOf(step: CommandStep): (string | undefined)[] {
  return [...new Set(agentsOfJobs(step).map(({ queue }) => queue))];
}

/** The ids of all queues that steps name or default to. Queues that a variable names are left out. */
export function queuesOfSteps(clusterId: string, steps: Step[], queueOf: QueueOfStep): Set<string> {
  const keys = new Set(commandsOf(steps).flatMap(queueKeysOf));
  return new Set([...keys].flatMap((key) => queueOf(clusterId, commandOn(key)) ?? []));
}

/** Returns true if the queue of a step is known once its build is made: a variable names it. */
export function namesQueueByVariable(steps: Step[]): boolean {
  return commandsOf(steps).some((step) => queueKeysOf(step).some(hasVariable));
}

function hasVariable(key: string | undefined): boolean {
  return key?.includes("$") ?? false;
}

/** The reasons why stored steps cannot run in the cluster. A queue that a variable names is looked up by the build. */
export function storedStepProblems(clusterId: string, steps: Step[], queueOf: QueueOfStep): Problem[] {
  return problemsOf(steps, (key) => hasVariable(key) || queueOf(clusterId, commandOn(key)) !== undefined);
}

/** The reasons why steps of jobs cannot run in the cluster. */
export function stepProblems(clusterId: string, steps: Step[], queueOf: QueueOfStep): Problem[] {
  return problemsOf(steps, (key) => queueOf(clusterId, commandOn(key)) !== undefined);
}

/** A command that names this queue, or none. */
export function commandOn(queue: string | undefined): CommandStep {
  return { command: "", agents: queue === undefined ? {} : { queue } };
}

type HasQueue = (key: string | undefined) => boolean;

/** Each reason once, of the first step that has it. */
function problemsOf(steps: Step[], hasQueue: HasQueue): Problem[] {
  const problems = problemsOfList(steps, hasQueue, "steps");
  return [...Map.groupBy(problems, ({ message }) => message).values()].flatMap(([first]) => first ?? []);
}

function problemsOfList(steps: Step[], hasQueue: HasQueue, place: string): Problem[] {
  return steps.flatMap((step, index) => {
    const at = `${place}.${index}`;
    if (isGroupStep(step)) return problemsOfList(step.steps, hasQueue, `${at}.steps`);
    if (!isCommandStep(step)) return [];
    const [missing] = queueKeysOf(step)
      .filter((key) => !hasQueue(key))
      .map((key) => key ?? null);
    if (missing === undefined) return [];
    const message =
      missing === null
        ? "Steps must name a queue, because the cluster has no default queue"
        : `Steps name the queue ${excerpt(missing)}, which the cluster does not have`;
    return [{ field: `${at}.agents`, message }];
  });
}
