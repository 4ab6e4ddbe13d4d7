import { findPromising } from "../../builds/progress/promises.ts";
import { standingOfStep } from "../../builds/reading/step-standing.ts";
import { listJobsOfStep } from "../../builds/reading/step-store.ts";
import type { Build } from "../../builds/rows/build-store.ts";
import { findTree } from "../../builds/rows/graph-store.ts";
import type { Job } from "../../builds/rows/job-store.ts";
import { isStep } from "../../graph/tree.ts";
import { parseAgentRules } from "../../pipelines/agent-rules.ts";
import { findQueueById } from "../../queues/store.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import type { Dependency, Node } from "../../vocabulary.ts";
import { findStepId } from "./step-store.ts";

export const stepAttributes = [
  ...([
    "agents",
    "command",
    "concurrency_key",
    "concurrency_limit",
    "depends_on",
    "env",
    "if",
    "key",
  ] as const),
  ...(["label", "notify", "outcome", "parallelism", "state", "timeout", "type"] as const),
] as const;
export type StepAttribute = (typeof stepAttributes)[number];

type Value = string | number | unknown[] | object | undefined;
type Attributes = Record<StepAttribute, Value>;

/**
 * Reads a step as text.
 * @param attribute undefined: the whole step
 * @returns empty if the attribute has no value
 * @throws Refusal 404, 422 of a value that only JSON can show
 */
export async function getStep(
  services: Services,
  build: Build,
  { step, attribute, isJson }: { step: string; attribute: StepAttribute | undefined; isJson: boolean },
): Promise<string> {
  const { db } = services;
  const id = await findStepId(db, build.id, step);
  if (id === undefined) throw notFound("step");
  const jobs = await listJobsOfStep(db, { buildId: build.id, stepId: id });
  const attributes = await readAttributes(services, build, jobs);
  const value = attribute === undefined ? { id, ...attributes } : attributes[attribute];
  if (value === undefined) return "";
  if (isJson) return JSON.stringify(value);
  if (typeof value === "object")
    throw new Refusal(422, `${attribute ?? "The whole step"} can be shown with the format json only`);
  return String(value);
}

async function readAttributes({ db }: Services, build: Build, jobs: Job[]): Promise<Attributes> {
  const [first] = jobs as [Job, ...Job[]];
  const { label, command, options, queueId, agentRules, stepId } = first;
  const { key, env, parallel, timeout_in_minutes, notify } = options ?? {};
  const queue = queueId ? await findQueueById(db, queueId) : undefined;
  const present = jobs.filter(({ retriedInJobId }) => retriedInJobId === null);
  const tree = build.hasGraph ? await findTree(db, build.id) : undefined;
  const queueKey = queue?.key ?? options?.queue;
  return {
    agents: queueKey ? [`queue=${queueKey}`, ...parseAgentRules(agentRules)] : undefined,
    command: command ?? undefined,
    concurrency_key: options?.concurrency_group,
    concurrency_limit: options?.concurrency,
    depends_on: tree ? findDependencies(tree, stepId) : undefined,
    env,
    if: undefined, // evaluated once, and not kept
    key,
    label: label ?? undefined,
    notify,
    ...standingOfStep(jobs, await findPromising(db, jobs)),
    parallelism: parallel && present.length,
    timeout: timeout_in_minutes,
    type: typeOf(first),
  };
}

function typeOf({ type, options }: Job): string {
  const manual = options?.manual?.type ?? "block";
  return { script: "command", waiter: "wait", manual, trigger: "trigger" }[type];
}

function findDependencies(nodes: Node[], stepId: string): Dependency[] | undefined {
  for (const node of nodes) {
    const found = isStep(node) ? node.id === stepId && node.dependsOn : findDependencies(node.steps, stepId);
    if (found) return found;
  }
  return undefined;
}
