import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { Run } from "../installation/marks.ts";
import { gate } from "../installation/steps.ts";
import type { Observed } from "../traffic/observed.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Job = Ledger["jobs"][number];

/** No group was over its limit or let a job overtake, and none has members once all jobs have ended. */
export function checkGroups(
  { groupFaults }: Pick<Observed, "groupFaults">,
  { members, tasks }: Pick<Ledger, "members" | "tasks">,
): Discrepancy[] {
  return [
    ...groupFaults.map(({ fault, atMs }) =>
      discrepancy("groups", fault, [
        { fromMs: atMs, untilMs: atMs, request: "a look at concurrency groups", answer: fault },
      ]),
    ),
    ...members.map(({ jobId, standing }) =>
      discrepancy("groups", `job ${jobId} is a member for ever: ${standing}`),
    ),
    ...tasks.map(({ kind, subjectId }) => discrepancy("groups", `${kind} of ${subjectId} was never done`)),
  ];
}

/** A job of a group, and when its command ran. A job is in its group for longer. */
interface Held {
  job: Job;
  group: string;
  limit: number;
  beganAt: number;
  endedAt: number;
}

/** The commands of a group ran as its limit and its order allow, by the machine's uptime. */
export function checkGroupRuns(
  rows: Pick<Ledger, "builds" | "jobs" | "jobTokens">,
  runs: Run[],
): Discrepancy[] {
  const places = listHeld(rows, runs);
  return [
    ...[...Map.groupBy(places, ({ group }) => group).values()].flatMap(checkLimit),
    ...checkGate(
      places.filter(({ group }) => group === gate.concurrency_group),
      rows,
    ),
  ];
}

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

function checkLimit(held: Held[]): Discrepancy[] {
  return held.flatMap(({ job, group, limit, beganAt }) => {
    const others = held.filter((each) => each.beganAt <= beganAt && beganAt < each.endedAt);
    return others.length > limit
      ? [
          discrepancy(
            "groups",
            `${others.length} commands of ${group} ran at once, as that of job ${job.id} began`,
          ),
        ]
      : [];
  });
}

/**
 * When a job of the gate begins, fewer than its limit are open of those before it, which are in the gate from the start of
 * their build on. Clocks jump: only builds that are earlier by their number and by their time count.
 */
function checkGate(held: Held[], { builds }: Pick<Ledger, "builds">): Discrepancy[] {
  const buildOf = new Map(builds.map((build) => [build.id, build]));
  const isAhead = (one: Job, other: Job): boolean => {
    const [first, second] = [buildOf.get(one.buildId), buildOf.get(other.buildId)];
    if (!first || !second) return false;
    if (first.id === second.id) return one.position < other.position;
    return first.number < second.number && first.createdAt < second.createdAt;
  };
  return held.flatMap(({ job, limit, beganAt }) => {
    const open = held.filter((each) => each.endedAt > beganAt && isAhead(each.job, job));
    return open.length >= limit
      ? [discrepancy("groups", `job ${job.id} has overtaken ${open.length} jobs of a gate of ${limit}`)]
      : [];
  });
}
