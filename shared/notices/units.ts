import { isDeepStrictEqual } from "node:util";
import { promisesFailure } from "../builds/progress/promises.ts";
import { standingOfStep } from "../builds/reading/step-standing.ts";
import { listJobsOfStep } from "../builds/reading/step-store.ts";
import type { Job } from "../builds/rows/job-store.ts";
import type { Tx } from "../db/database.ts";
import type { News } from "../news/store.ts";
import type { Notice } from "../vocabulary.ts";
import { endsOfJobs, type StepEvent } from "./events.ts";
import { findNoticesOfGroup, listJobsOfGroup } from "./store.ts";

// The events of steps. A step tells once, whatever jobs it has: it fails when its first job does, and ends when its last
// one does. Jobs of a matrix tell each of its own, if their notices name its values. A group is as a step of all its jobs.

export interface Unit {
  /** Of the step, of its job in a matrix, or of the group. */
  id: string;
  type: "command" | "group";
  key: string | null;
  label: string | null;
  /** The job whose page shows it. */
  job: Job;
  state: string;
  outcome: ReturnType<typeof standingOfStep>["outcome"];
  notices: Notice[];
  /** It is one combination of a matrix, and not the whole step. */
  isCombination: boolean;
}

export interface UnitEvent {
  unit: Unit;
  /** With `step.changed`, which each event of a job is. */
  events: StepEvent[];
}

/** Finds the units of a job that have notices. Units of other jobs of the same news are read once. */
export function unitReader(tx: Tx): (news: News, job: Job) => Promise<UnitEvent[]> {
  const read = <Value>(find: (key: string) => Promise<Value>) => {
    const found = new Map<string, Promise<Value>>();
    return (key: string) => {
      const value = found.get(key) ?? find(key);
      found.set(key, value);
      return value;
    };
  };
  const buildOf = new Map<string, string>();
  const placeOf = (id: string) => ({ buildId: buildOf.get(id) as string, stepId: id, groupId: id });
  const jobsOfStep = read((id) => listJobsOfStep(tx, placeOf(id)));
  const noticesOfGroup = read((id) => findNoticesOfGroup(tx, placeOf(id)));
  const jobsOfGroup = read((id) => listJobsOfGroup(tx, placeOf(id)));

  return async (news, job) => {
    const { stepId, options, buildId } = job;
    const group = options?.group;
    buildOf.set(stepId, buildId);
    if (group) buildOf.set(group.id, buildId);
    const events: UnitEvent[] = [];
    if (options?.notify) {
      const { jobs, id, isCombination } = unitOfStep(job, await jobsOfStep(stepId));
      const facts = {
        id,
        isCombination,
        type: "command" as const,
        key: options.key ?? null,
        label: job.label,
      };
      events.push(...(await eventsOf(tx, { news, job, jobs, facts, notices: options.notify })));
    }
    const ofGroup = group ? await noticesOfGroup(group.id) : [];
    if (group && ofGroup.length > 0) {
      const { id, key = null, label } = group;
      const facts = { id, isCombination: false, type: "group" as const, key, label };
      const jobs = await jobsOfGroup(group.id);
      events.push(...(await eventsOf(tx, { news, job, jobs, facts, notices: ofGroup })));
    }
    return events;
  };
}

function unitOfStep(job: Job, jobs: Job[]): { jobs: Job[]; id: string; isCombination: boolean } {
  const { matrix, notify } = job.options ?? {};
  const isOne = !matrix || jobs.every(({ options }) => isDeepStrictEqual(options?.notify, notify));
  if (isOne) return { jobs, id: job.stepId, isCombination: false };
  const own = jobs.filter(({ options }) => isDeepStrictEqual(options?.matrix, matrix));
  return { jobs: own, id: (own[0] ?? job).id, isCombination: true };
}

interface JobOfUnit {
  news: News;
  job: Job;
  jobs: Job[];
  facts: Pick<Unit, "id" | "isCombination" | "type" | "key" | "label">;
  notices: Notice[];
}

async function eventsOf(tx: Tx, { news, job, jobs, facts, notices }: JobOfUnit): Promise<UnitEvent[]> {
  const present = jobs.filter(({ retriedInJobId }) => retriedInJobId === null);
  if (!present.some(({ id }) => id === job.id)) return [];
  const promising = new Set<string>();
  for (const each of present)
    if (each.state === "running" && each.promisedAt && (await promisesFailure(tx, each)))
      promising.add(each.id);
  const { state, outcome } = standingOfStep(present, promising);
  if (state === "ignored") return [];
  const ended = endsOfJobs.some((event) => event === news.event);
  const promised = news.event === "job.promised_exit_status";
  const isFailing =
    state === "failing" &&
    (promised || (ended && job.promisedAt === null)) &&
    isFirst(
      job,
      present.filter((each) => hasFailed(each, promising)),
    );
  const isFinished = ended && state === "finished" && isLast(job, present);
  const events: StepEvent[] = ["step.changed"];
  if (isFailing) events.push("step.failing");
  if (isFinished) events.push("step.finished");
  return [{ unit: { ...facts, job, state, outcome, notices }, events }];
}

function hasFailed(job: Job, promising: ReadonlySet<string>): boolean {
  const { state, outcome } = standingOfStep([job], promising);
  return state === "failing" || outcome === "hard_failed" || outcome === "errored";
}

const failedAt = ({ promisedAt, finishedAt }: Job) => (promisedAt ?? finishedAt)?.getTime() ?? 0;
const endedAt = ({ finishedAt, unblockedAt }: Job) => (finishedAt ?? unblockedAt)?.getTime() ?? 0;

function isFirst(job: Job, failed: Job[]): boolean {
  return failed.every(
    (each) =>
      each.id === job.id ||
      failedAt(each) > failedAt(job) ||
      (failedAt(each) === failedAt(job) && each.id > job.id),
  );
}

/** Of those that ended at once, the last by its id. */
function isLast(job: Job, present: Job[]): boolean {
  return present.every(
    (each) =>
      each.id === job.id ||
      each.state === "broken" ||
      endedAt(each) < endedAt(job) ||
      (endedAt(each) === endedAt(job) && each.id < job.id),
  );
}
