import type { JobFacts } from "../../../shared/builds/rows/job-store.ts";
import type { Assignment, DispatchChange } from "../traffic/observed.ts";
import { checkOf, seen } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

/** From an answer to a pause until a request to resume. */
export interface Pause {
  queueId: string;
  fromMs: number;
  untilMs: number;
  change: DispatchChange;
}

/** A request without an answer may be carried out so much later: its process may be frozen. */
const maxLateMs = 30_000;

/** Lists the times in which a queue was paused for certain. */
export function listPauses(changes: DispatchChange[]): Pause[] {
  const pauses = changes.filter(({ action, isDone }) => action === "pause" && isDone);
  return pauses.flatMap((change) => {
    const { queueId } = change;
    const resumes = changes.filter((each) => each.queueId === queueId && each.action === "resume");
    const late = resumes.filter(({ isDone, fromMs }) => !isDone && fromMs < change.untilMs);
    const fromMs = Math.max(change.untilMs, ...late.map((resume) => resume.fromMs + maxLateMs));
    const next = resumes.find((resume) => resume.fromMs >= change.untilMs);
    const untilMs = next?.fromMs ?? Number.POSITIVE_INFINITY;
    return fromMs < untilMs ? [{ queueId, fromMs, untilMs, change }] : [];
  });
}

/** No job is assigned while its queue is paused. */
export const checkAssignments = checkOf(
  "assignments",
  function* (assignments: Assignment[], changes: DispatchChange[]) {
    const pauses = Map.groupBy(listPauses(changes), ({ queueId }) => queueId);
    for (const { queueId, jobId, fromMs, untilMs } of assignments) {
      const pause = pauses.get(queueId)?.find((each) => each.fromMs <= fromMs && untilMs <= each.untilMs);
      const story = seen("assignment", jobId, fromMs, untilMs);
      if (pause) yield [`job ${jobId} was assigned while its queue was paused`, [pause.change, ...story]];
    }
  },
);

type Rows = Pick<Ledger, "builds" | "queues"> & { jobs: JobFacts[] };

/** Waiting jobs of paused queues are marked, others are not, and builds follow their jobs. */
export const checkFanOut = checkOf("fan-out", function* ({ builds, jobs, queues }: Rows) {
  const times = new Map(queues.map(({ id, dispatchPausedAt }) => [id, dispatchPausedAt?.getTime()]));
  const pausedAt = (queueId: string | null) => times.get(queueId ?? "");
  const waiting = jobs.filter(({ state }) => state === "scheduled");
  const waitingOf = Map.groupBy(waiting, ({ buildId }) => buildId);
  const wrongJobs = jobs.filter(({ state, queueId, dispatchPausedAt }) => {
    const expected = state === "scheduled" ? pausedAt(queueId) : undefined;
    return dispatchPausedAt?.getTime() !== expected;
  });
  for (const [queueId, own] of Map.groupBy(wrongJobs, (job) => job.queueId)) {
    const state = pausedAt(queueId) === undefined ? "running" : "paused";
    const first = `the first is ${own[0]?.id} (${own[0]?.state})`;
    yield `queue ${queueId} is ${state}, and ${own.length} jobs do not match: ${first}`;
  }
  const wrongBuilds = builds.filter(({ id, isPaused, pausedQueueId }) => {
    const queueIds = (waitingOf.get(id) ?? []).map(({ queueId }) => queueId);
    const paused = queueIds.filter((queueId) => pausedAt(queueId) !== undefined);
    const isMarkRight = pausedQueueId === null ? paused.length === 0 : paused.includes(pausedQueueId);
    return !isMarkRight || isPaused !== (paused.length > 0 && paused.length === queueIds.length);
  });
  if (wrongBuilds[0])
    yield `${wrongBuilds.length} builds do not match the pauses of their jobs' queues, such as ${wrongBuilds[0].id}`;
});
