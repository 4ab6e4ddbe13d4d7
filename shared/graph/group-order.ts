import { excerpt } from "../refusal.ts";
import { isCommandStep, type Node } from "../vocabulary.ts";
import type { DraftedJob } from "./expand.ts";
import { inOrder } from "./progress.ts";
import { type Vertex, wireWithUploads } from "./wiring.ts";

// An ordered concurrency group lets an entry start once fewer entries than its limit are left before it. So an entry
// that needs a later one may stop the group for ever, and with it all builds that have entries there.

/** A job of a concurrency group that has not started. */
export interface WaitingEntry {
  stepId: string;
  group: string;
  limit: number;
  isEager: boolean;
  /** Names its step, if that has no key. */
  label: string | null;
}

interface StuckEntries {
  /** Its order keeps one of them from starting. */
  group: string;
  /** Keys or labels, in the order of the steps. */
  names: string[];
}

const maxNames = 5;
const maxLabelLength = 40;

/** The new jobs that belong to groups, without jobs that are left out. */
export function entriesOfDrafts(jobs: DraftedJob[]): WaitingEntry[] {
  return jobs.flatMap(({ step, stepId, broken }) => {
    if (!isCommandStep(step) || step.concurrency_group === undefined || broken !== undefined) return [];
    const { concurrency: limit = 1, concurrency_group: group, concurrency_method, label, command } = step;
    const isEager = concurrency_method === "eager";
    return [{ stepId, group, limit, isEager, label: label ?? excerpt(command, maxLabelLength) }];
  });
}

/** The steps whose new jobs are all left out. */
export function stepsLeftOut(jobs: DraftedJob[]): Set<string> {
  const ids = new Set(jobs.map(({ stepId }) => stepId));
  for (const { stepId, broken } of jobs) if (broken === undefined) ids.delete(stepId);
  return ids;
}

/**
 * Finds entries that could never start, however the other jobs of the build end. Steps behind a manual one join their
 * groups once people unblock them: they hold nobody back before.
 * @param tree without circles
 * @param entries of the build, in their order
 * @param ended steps that wait for nothing any more
 */
export function findStuckEntries(
  tree: Node[],
  entries: WaitingEntry[],
  ended: ReadonlySet<string>,
): StuckEntries | undefined {
  if (entries.length === 0) return undefined;
  const vertices = wireWithUploads(tree);
  const steps = new Map(vertices.flatMap((vertex) => (vertex.step ? [[vertex.step.id, vertex]] : [])));
  const behindManual = findBehindManual(vertices, ended);
  const waiting = entries.filter(({ stepId }) => steps.has(stepId) && !ended.has(stepId));
  const ofSteps = Map.groupBy(waiting, ({ stepId }) => stepId);
  /** Entries that have not started, by their group. */
  const queues = Map.groupBy(waiting, ({ group }) => group);
  const left = new Map([...ofSteps].map(([stepId, { length }]) => [stepId, length]));
  const highestLimits = new Map([...queues].map(([group, queue]) => [group, highestLimit(queue)]));
  const needs = vertices.map(({ needs, step }) => (step && ended.has(step.id) ? 0 : needs.length));
  const neededBy: Vertex[][] = vertices.map(() => []);
  for (const vertex of vertices) for (const need of vertex.needs) neededBy[need.vertex.index]?.push(vertex);

  const ready = new Set<WaitingEntry>();
  const due = vertices.filter(({ index }) => needs[index] === 0);
  const touched = new Set<string>();
  for (;;) {
    for (let vertex = due.pop(); vertex; vertex = due.pop()) reach(vertex);
    const [group] = touched;
    if (group === undefined) break;
    touched.delete(group);
    startOf(group);
  }
  const inQueues = new Set([...queues.values()].flat());
  const stuck = waiting.filter((entry) => inQueues.has(entry));
  const first = stuck.find((entry) => ready.has(entry)) ?? stuck[0];
  const names = stuck.map(({ stepId, label }) => steps.get(stepId)?.step?.key ?? label ?? stepId);
  return first && { group: first.group, names: [...new Set(names)].slice(0, maxNames) };

  /** All that a vertex needs has ended. */
  function reach(vertex: Vertex): void {
    const own = ofSteps.get(vertex.step?.id ?? "");
    if (!own) end(vertex);
    for (const entry of own ?? []) {
      ready.add(entry);
      touched.add(entry.group);
    }
  }

  function end({ index }: Vertex): void {
    for (const next of neededBy[index] ?? []) {
      const open = (needs[next.index] ?? 0) - 1;
      needs[next.index] = open;
      if (open === 0) due.push(next);
    }
  }

  /** Ends the entries of a group that may start now. */
  function startOf(group: string): void {
    const queue = queues.get(group) ?? [];
    const highest = highestLimits.get(group) ?? 0;
    for (let index = 0, ahead = 0; index < queue.length && ahead < highest; ) {
      const entry = queue[index] as WaitingEntry;
      if (ready.has(entry) && (entry.isEager || ahead < entry.limit)) {
        queue.splice(index, 1);
        leave(entry);
      } else {
        if (!behindManual.has(entry.stepId)) ahead++;
        index++;
      }
    }
  }

  function leave({ stepId }: WaitingEntry): void {
    const others = (left.get(stepId) ?? 0) - 1;
    left.set(stepId, others);
    if (others === 0) end(steps.get(stepId) as Vertex);
  }
}

/** With so many entries ahead, none of these may start. */
function highestLimit(entries: WaitingEntry[]): number {
  return entries.reduce(
    (highest, { limit, isEager }) => Math.max(highest, isEager ? Number.POSITIVE_INFINITY : limit),
    0,
  );
}

function findBehindManual(vertices: Vertex[], ended: ReadonlySet<string>): Set<string> {
  const ids = new Set<string>();
  const behind = new Set<number>();
  for (const { index, step, needs } of inOrder(vertices)) {
    if (step && ended.has(step.id)) continue;
    if (!step?.manual && !needs.some(({ vertex }) => behind.has(vertex.index))) continue;
    behind.add(index);
    if (step) ids.add(step.id);
  }
  return ids;
}
