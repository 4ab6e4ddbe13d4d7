import type { Run } from "../installation/marks.ts";
import { answersOf } from "../installation/steps.ts";
import type { Unblock } from "../traffic/observed.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "jobs" | "answers" | "unblockings">;
type Job = Ledger["jobs"][number];

/** Each manual step was unblocked at most once, by a request whose answer is kept, and none waits for ever. */
export const checkUnblocks = checkOf(
  "unblocks",
  function* (unblocks: Unblock[], { jobs, answers, unblockings }: Rows) {
    const manual = jobs.filter(({ type }) => type === "manual");
    const requestsOf = Map.groupBy(unblocks, ({ jobId }) => jobId);
    const answerOf = new Map(answers.map(({ buildId, key, value }) => [`${buildId} ${key}`, value]));
    for (const job of manual) {
      const own = requestsOf.get(job.id) ?? [];
      const answer = answerOf.get(`${job.buildId} ${answersOf(job.label).key}`);
      const attempts = own.flatMap((each) => each.attempts);
      for (const words of problemsOf(job, own, answer))
        yield [`step ${job.label} ${job.id} ${words}`, attempts];
    }
    const counted = Map.groupBy(manual.filter(isUnblocked), ({ buildId }) => buildId);
    const audited = Map.groupBy(unblockings, ({ buildId }) => buildId);
    for (const id of new Set([...counted.keys(), ...audited.keys()])) {
      const [steps, times] = [counted.get(id)?.length ?? 0, audited.get(id)?.length ?? 0];
      if (steps !== times) yield `build ${id} has ${steps} unblocked steps, and ${times} audited unblockings`;
    }
  },
);

function* problemsOf(job: Job, requests: Unblock[], answer: string | undefined) {
  const { done, possible } = thoseThatUnblocked(requests);
  const { state } = job;
  const given = possible.map(({ value }) => value);
  if (done.length > 1) yield `was unblocked ${done.length} times`;
  if (state === "blocked") yield "waits for ever";
  if (!isUnblocked(job)) {
    if (done.length > 0) yield `was unblocked, but is ${state}`;
    if (answer !== undefined) yield `has the answer ${answer}, but is ${state}`;
  } else {
    if (possible.length === 0) yield "was unblocked by nobody";
    if (!given.includes(answer ?? "")) yield `has the answer ${answer}, and who unblocked it gave ${given}`;
  }
}

function isUnblocked({ state }: Pick<Job, "state">): boolean {
  return state === "unblocked" || state === "unblocked_failed";
}

/** @returns requests that were answered so; and those of them, or else without an answer, that may be the one */
function thoseThatUnblocked(requests: Unblock[]) {
  const done = requests.filter(({ isDone }) => isDone === true);
  const unknown = requests.filter(({ isDone }) => isDone === undefined);
  return { done, possible: done.length > 0 ? done : unknown };
}

/**
 * Unblockings as the runs of commands, by the machine's uptime: a step was unblocked between the request and its answer.
 * All steps that it needs had ended before the answer, and the steps that need it began after the request.
 */
export function runsOfUnblocks(unblocks: Unblock[]): Pick<Run, "jobId" | "beganAt" | "endedAt">[] {
  return [...Map.groupBy(unblocks, ({ jobId }) => jobId)].flatMap(([jobId, own]) => {
    const { done, possible } = thoseThatUnblocked(own);
    if (possible.length === 0) return [];
    const beganAt = done[0]?.answeredAt ?? Number.POSITIVE_INFINITY;
    return { jobId, beganAt, endedAt: Math.min(...possible.map(({ sentAt }) => sentAt)) };
  });
}
