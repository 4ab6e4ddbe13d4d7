import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { Run } from "../installation/marks.ts";
import { gate } from "../installation/steps.ts";
import type { Observed } from "../traffic/observed.ts";
import { checkOf, seen } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Job = Ledger["jobs"][number];

/** No group was over its limit or let a job overtake, and none has entries once all jobs have ended. */
export const checkGroups = checkOf(
  "groups",
  function* (
    { groupFaults }: Pick<Observed, "groupFaults">,
    { entries, tasks }: Pick<Ledger, "entries" | "tasks">,
  ) {
    for (const { fault, atMs } of groupFaults)
      yield [fault, seen("a look at concurrency groups", fault, atMs)];
    for (const { jobId, standing } of entries) yield `job ${jobId} has an entry for ever: ${standing}`;
    for (const { kind, subjectId } of tasks) yield `${kind} of ${subjectId} was never done`;
  },
);

/** A job of a group, and when its command ran. A job is in its group for longer. */
interface Held {
  job: Job;
  group: string;
  limit: number;
  beganAt: number;
  endedAt: number;
}

/**
 * The commands of a group ran as its limit and its order allow, by the machine's uptime. When a job of the gate begins,
 * fewer than its limit are open of those before it, which are in the gate from the start of their build on.
 */
export const checkGroupRuns = checkOf(
  "groups",
  function* (rows: Pick<Ledger, "builds" | "jobs" | "jobTokens">, runs: Run[]) {
    const isAhead = orderOf(rows);
    const groups = Map.groupBy(listHeld(rows, runs), ({ group }) => group);
    for (const [name, own] of groups)
      for (const { job, limit, beganAt } of own) {
        const others = own.filter((each) => each.beganAt <= beganAt && beganAt < each.endedAt);
        if (others.length > limit)
          yield `${others.length} commands of ${name} ran at once, as that of job ${job.id} began`;
        const open = own.filter((each) => each.endedAt > beganAt && isAhead(each.job, job));
        if (name === gate.concurrency_group && open.length >= limit)
          yield `job ${job.id} has overtaken ${open.length} jobs of a gate of ${limit}`;
      }
  },
);

/** Only jobs that passed: of others a command may run on after its agent was given up. */
function listHeld({ jobs, jobTokens }: Pick<Ledger, "jobs" | "jobTokens">, runs: Run[]): Held[] {
  const attemptOf = new Map(jobTokens.map(({ tokenHash, attempt }) => [tokenHash, attempt]));
  const runsOf = Map.groupBy(runs, ({ jobId }) => jobId);
  return jobs.flatMap((job): Held[] => {
    const { concurrency_group: group, concurrency: limit = 1 } = job.options ?? {};
    if (group === undefined || job.state !== "passed") return [];
    const last = runsOf.get(job.id)?.find(({ token }) => attemptOf.get(hashToken(token)) === job.attempt);
    if (last?.endedAt === undefined) return [];
    return [{ job, group, limit, beganAt: last.beganAt, endedAt: last.endedAt }];
  });
}

/** Clocks jump: only builds that are earlier by their number and by their time count. */
function orderOf({ builds }: Pick<Ledger, "builds">) {
  const buildOf = new Map(builds.map((build) => [build.id, build]));
  return (one: Job, other: Job): boolean => {
    const [first, second] = [buildOf.get(one.buildId), buildOf.get(other.buildId)];
    if (!first || !second) return false;
    if (first.id === second.id) return one.position < other.position;
    return first.number < second.number && first.createdAt < second.createdAt;
  };
}
