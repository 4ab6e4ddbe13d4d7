import type { PlacedGraph, PlacedJob } from "../../../../shared/builds/rows/graph-store.ts";
import { type StageItem, stagesOf } from "../../../../shared/graph/stages.ts";
import { finishedJobStates } from "../../../../shared/vocabulary.ts";
import { countKinds, kindOf, type StateKind } from "../../states/kinds.ts";

// A build has up to thousands of steps in one stage, or of stages. A page shows some of them, and counts the rest.

const maxStages = 16;
const maxSteps = 80;
/** Jobs of steps with several of them, by name. All of two matrices, which have at most 50. */
const maxNamedJobs = 100;
const maxDots = 300;
const maxDotsOfItem = 100;
/** Waits, blocks and inputs between two stages. */
const maxGates = 4;

export interface ShownStages {
  stages: ShownStage[];
  /** The place of the first one, from 0. */
  first: number;
  total: number;
  /** Behind the last stage of all. */
  lastGates: PlacedJob[];
}

export interface ShownStage {
  /** The jobs of the waits, blocks and inputs before it. Waits that say nothing more than the first are left out. */
  gates: PlacedJob[];
  items: ShownItem[];
  /** Of all jobs of the steps that are left out. */
  more: { steps: number; counts: [StateKind, number][] };
}

export interface ShownItem {
  group?: StageItem["group"];
  steps: ShownStep[];
  /** Present jobs of all steps, those that are left out too. */
  jobs: PlacedJob[];
  /** Steps of the group that are left out. */
  moreSteps: number;
  showsDots: boolean;
}

export interface ShownStep {
  id: string;
  jobs: PlacedJob[];
  /** Those to be named: all, or of many only the first. */
  named: PlacedJob[];
  showsDots: boolean;
}

/**
 * Chooses what a page shows of the stages of a build.
 * @param from the first stage. Default: the one before the first that has not ended
 * @returns undefined if stages would say no more than a list of jobs
 */
export function chooseStages({ tree, jobs }: PlacedGraph, from?: number): ShownStages | undefined {
  const present = jobs.filter(({ type, retriedInJobId }) => !isGate(type) && retriedInJobId === null);
  const jobsOfGates = new Map(jobs.flatMap((job) => (isGate(job.type) ? [[job.stepId, job]] : [])));
  const gatesAt = (place: number) =>
    chooseGates((gates[place] ?? []).flatMap(({ id }) => jobsOfGates.get(id) ?? []));
  const byStep = Map.groupBy(present, ({ stepId }) => stepId);
  const jobsOf = ({ steps }: StageItem) => steps.flatMap(({ id }) => byStep.get(id) ?? []);
  const { stages: all, gates } = stagesOf(tree, ({ id }) => byStep.has(id));
  const isPlain = all.length < 2 && all.flat().every((item) => !item.group && jobsOf(item).length < 2);
  if (isPlain) return undefined;

  const isOver = (items: StageItem[]) =>
    items.every((item) => jobsOf(item).every(({ state }) => finishedJobStates.includes(state)));
  const active = all.length > maxStages ? all.findIndex((items) => !isOver(items)) : 0;
  const first = Math.max(0, Math.min(from ?? active - 1, all.length - 1));
  const shown = all.slice(first, first + maxStages);
  const room = { steps: maxSteps, named: maxNamedJobs, dots: maxDots };
  const perStage = Math.floor(maxSteps / shown.length);

  const takeDots = (count: number) => {
    if (count < 2 || count > Math.min(room.dots, maxDotsOfItem)) return false;
    room.dots -= count;
    return true;
  };
  const showStep = (id: string): ShownStep => {
    const own = (byStep.get(id) ?? []).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const named = own.length === 1 ? own : own.slice(0, Math.max(1, room.named));
    if (own.length > 1) room.named -= named.length;
    return { id, jobs: own, named, showsDots: takeDots(own.length) };
  };
  const showItem = (item: StageItem, limit: number): ShownItem => {
    const own = jobsOf(item);
    const showsDots = item.group !== undefined && takeDots(own.length);
    const steps = item.steps.slice(0, limit).map(({ id }) => showStep(id));
    const { group } = item;
    return {
      ...(group && { group }),
      steps,
      jobs: own,
      showsDots,
      moreSteps: item.steps.length - steps.length,
    };
  };
  const stages = shown.map((items, index): ShownStage => {
    const hasGroup = items.some(({ group }) => group);
    const limit = hasGroup ? Math.ceil(perStage / 2) : perStage;
    const chosen = chooseItems(items, limit, jobsOf);
    const left = items.filter((item) => !chosen.includes(item));
    // A group takes the places of its steps, though at least one.
    let places = perStage;
    const shownItems = chosen.map((item, index) => {
      const shownItem = showItem(item, Math.max(1, places - (chosen.length - index - 1)));
      places -= shownItem.steps.length;
      return shownItem;
    });
    const steps = left.reduce((sum, item) => sum + item.steps.length, 0);
    const more = { steps, counts: countKinds(left.flatMap(jobsOf)) };
    return { gates: gatesAt(first + index), items: shownItems, more };
  });
  const isEnd = first + shown.length === all.length;
  return { stages, first, total: all.length, lastGates: isEnd ? gatesAt(all.length) : [] };
}

function isGate(type: PlacedJob["type"]): boolean {
  return type === "waiter" || type === "manual";
}

/** One wait stands for all. */
function chooseGates(jobs: PlacedJob[]): PlacedJob[] {
  const [wait] = jobs.filter(({ type }) => type === "waiter");
  return jobs.filter((job) => job === wait || job.type === "manual").slice(0, maxGates);
}

/** Keeps the order. Of too many, those with failures come first, then those that go on. */
function chooseItems(
  items: StageItem[],
  limit: number,
  jobsOf: (item: StageItem) => PlacedJob[],
): StageItem[] {
  if (items.length <= limit) return items;
  const ranked = items.map((item) => ({ item, concern: Math.min(...jobsOf(item).map(concernOf)) }));
  const chosen = new Set(
    ranked
      .sort((one, other) => one.concern - other.concern)
      .slice(0, limit)
      .map(({ item }) => item),
  );
  return items.filter((item) => chosen.has(item));
}

/** Lower for states that people want to see first. */
function concernOf(job: PlacedJob): number {
  const place = concerns.indexOf(kindOf(job));
  return place === -1 ? concerns.length : place;
}

const concerns: StateKind[] = ["failed", "running", "soft", "waiting"];

/** The ids of the jobs whose names stages show, beside them or as the title of a dot. */
export function jobsOfStages({ stages, lastGates }: ShownStages): string[] {
  const ofItem = ({ steps, jobs, showsDots }: ShownItem) => [
    ...(showsDots ? jobs : []),
    ...steps.flatMap((step) => (step.showsDots ? step.jobs : step.named)),
  ];
  const shown = stages.flatMap(({ gates, items }) => [...gates, ...items.flatMap(ofItem)]);
  return [...shown, ...lastGates].map(({ id }) => id);
}

/** The stages before and behind those that are shown, by their first place. */
export function neighborsOfStages({ first, stages, total }: ShownStages) {
  const next = first + stages.length;
  return {
    earlier: first > 0 ? Math.max(0, first - maxStages) : undefined,
    later: next < total ? next : undefined,
  };
}
