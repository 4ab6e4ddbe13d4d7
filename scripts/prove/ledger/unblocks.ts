import type { Run } from "../installation/marks.ts";
import { answersOf } from "../installation/steps.ts";
import type { Unblock } from "../traffic/observed.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "jobs" | "answers" | "unblockings">;
type Job = Ledger["jobs"][number];

/** Each manual step was unblocked at most once, by a request whose answer is kept, and none waits for ever. */
export function checkUnblocks(unblocks: Unblock[], { jobs, answers, unblockings }: Rows): Discrepancy[] {
  const manual = jobs.filter(({ type }) => type === "manual");
  const requestsOf = Map.groupBy(unblocks, ({ jobId }) => jobId);
  const answerOf = new Map(answers.map(({ buildId, key, value }) => [`${buildId} ${key}`, value]));
  const ofJobs = manual.flatMap((job) => {
    const own = requestsOf.get(job.id) ?? [];
    const answer = answerOf.get(`${job.buildId} ${answersOf(job.label).key}`);
    const attempts = own.flatMap((each) => each.attempts);
    return problemsOf(job, own, answer).map((words) =>
      discrepancy("unblocks", `step ${job.label} ${job.id} ${words}`, attempts),
    );
  });
  const counted = Map.groupBy(manual.filter(isUnblocked), ({ buildId }) => buildId);
  const audited = Map.groupBy(unblockings, ({ buildId }) => buildId);
  const ofBuilds = [...new Set([...counted.keys(), ...audited.keys()])].flatMap((id) => {
    const [steps, times] = [counted.get(id)?.length ?? 0, audited.get(id)?.length ?? 0];
    return steps === times
      ? []
      : [
          discrepancy(
            "unblocks",
            `build ${id} has ${steps} unblocked steps, and ${times} audited unblockings`,
          ),
        ];
  });
  return [...ofJobs, ...ofBuilds];
}

function problemsOf(job: Job, requests: Unblock[], answer: string | undefined): string[] {
  const { done, possible } = thoseThatUnblocked(requests);
  const { state } = job;
  const given = possible.map(({ value }) => value);
  const problems = [
    done.length > 1 && `was unblocked ${done.length} times`,
    done.length > 0 && !isUnblocked(job) && `was unblocked, but is ${state}`,
    isUnblocked(job) && possible.length === 0 && "was unblocked by nobody",
    state === "blocked" && "waits for ever",
    isUnblocked(job) &&
      !given.includes(answer ?? "") &&
      `has the answer ${answer}, and who unblocked it gave ${given}`,
    !isUnblocked(job) && answer !== undefined && `has the answer ${answer}, but is ${state}`,
  ];
  return problems.filter((each) => typeof each === "string");
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
    return {
      jobId,
      beganAt: done[0]?.answeredAt ?? Number.POSITIVE_INFINITY,
      endedAt: Math.min(...possible.map(({ sentAt }) => sentAt)),
    };
  });
}
