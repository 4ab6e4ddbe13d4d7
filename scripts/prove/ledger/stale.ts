import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { Run } from "../installation/marks.ts";
import { lateMark, type OverAttempt } from "../traffic/late-writes.ts";
import type { LateWrite } from "../traffic/observed.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

const maxRuns = 40;

/** A token of an attempt that is over is no token for meta-data. Old agents stop at 422 alone. */
const refusals: Record<LateWrite["name"], number[]> = {
  start: [404],
  chunk: [404],
  "meta-data": [401, 404],
  finish: [422],
};

/** Late writes are refused, and change nothing. */
export const checkLateWrites = checkOf(
  "leases",
  function* (writes: LateWrite[], { jobs, lateRows }: Pick<Ledger, "jobs" | "lateRows">) {
    for (const write of writes)
      if (!isRefused(write) && !isUnknown(write))
        yield [`a stale ${write.name} of job ${write.jobId} is answered ${write.status}`, write.attempts];
    for (const { id, exitStatus } of jobs)
      if (exitStatus === lateMark.exitStatus) yield `a stale finish ended job ${id}`;
    for (const row of lateRows) yield `a stale write is stored: ${row}`;
  },
);

/** Late writes that were answered while their job waited again, or ran in its next attempt. */
export function listAnsweredWrites(writes: LateWrite[]): LateWrite[] {
  return writes.filter((write) => !write.isLast && !isUnknown(write));
}

/** Lists attempts that are over, earlier ones of a job first. */
export function listOverAttempts(
  { jobs, jobTokens }: Pick<Ledger, "jobs" | "jobTokens">,
  runs: Run[],
): OverAttempt[] {
  const attemptOf = new Map(jobTokens.map(({ tokenHash, attempt }) => [tokenHash, attempt]));
  const jobOf = new Map(jobs.map((job) => [job.id, job]));
  const over = runs.flatMap(({ jobId, token }) => {
    const attempt = attemptOf.get(hashToken(token));
    const job = jobOf.get(jobId);
    return job && attempt != null ? [{ jobId, token, isLast: attempt === job.attempt }] : [];
  });
  return over.sort((a, b) => +a.isLast - +b.isLast).slice(0, maxRuns);
}

/** A repeated finish of the last attempt is answered as the first was. */
function isRefused({ name, isLast, status }: LateWrite): boolean {
  return refusals[name].includes(status ?? 0) || (name === "finish" && isLast && status === 200);
}

function isUnknown({ status }: LateWrite): boolean {
  return status === undefined || status >= 500;
}
