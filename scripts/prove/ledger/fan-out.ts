import type { JobFacts } from "../../../shared/builds/job-store.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "builds" | "queues"> & { jobs: JobFacts[] };

/** Waiting jobs of paused queues are marked, others are not, and builds follow their jobs. */
export function checkFanOut({ builds, jobs, queues }: Rows): Discrepancy[] {
  const times = new Map(queues.map(({ id, dispatchPausedAt }) => [id, dispatchPausedAt?.getTime()]));
  const pausedAt = (queueId: string | null) => (queueId === null ? undefined : times.get(queueId));
  const waiting = jobs.filter(({ state }) => state === "scheduled");
  const waitingOf = Map.groupBy(waiting, ({ buildId }) => buildId);
  const wrongJobs = jobs.filter(({ state, queueId, dispatchPausedAt }) => {
    const expected = state === "scheduled" ? pausedAt(queueId) : undefined;
    return dispatchPausedAt?.getTime() !== expected;
  });
  const wrongBuilds = builds.filter(({ id, isPaused, pausedQueueId }) => {
    const queueIds = (waitingOf.get(id) ?? []).map(({ queueId }) => queueId);
    const paused = queueIds.filter((queueId) => pausedAt(queueId) !== undefined);
    const isMarkRight = pausedQueueId === null ? paused.length === 0 : paused.includes(pausedQueueId);
    return !isMarkRight || isPaused !== (paused.length > 0 && paused.length === queueIds.length);
  });
  const ofQueue = [...Map.groupBy(wrongJobs, ({ queueId }) => queueId)];
  return [
    ...ofQueue.map(([queueId, own]) => {
      const state = pausedAt(queueId) === undefined ? "running" : "paused";
      const words = `${own.length} jobs do not match: the first is ${own[0]?.id} (${own[0]?.state})`;
      return discrepancy("fan-out", `queue ${queueId} is ${state}, and ${words}`);
    }),
    ...wrongBuilds
      .slice(0, 1)
      .map(({ id }) =>
        discrepancy(
          "fan-out",
          `${wrongBuilds.length} builds do not match the pauses of their jobs' queues, such as ${id}`,
        ),
      ),
  ];
}
