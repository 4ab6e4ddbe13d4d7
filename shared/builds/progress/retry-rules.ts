import type { Tx } from "../../db/database.ts";
import { type AutomaticRetry, signalName } from "../../vocabulary.ts";
import type { Job } from "../rows/job-store.ts";
import { findJob } from "../rows/progress-store.ts";

/** The first rule that matches decides. Its limit counts the earlier retries by the same rule. */
export async function isRetryRuled(tx: Tx, job: Job): Promise<boolean> {
  const rule = findRule(job);
  if (!rule) return false;
  if (job.retriesCount < rule.limit) return true;
  return (await countRetriesBy(tx, rule, job)) < rule.limit;
}

function findRule(job: Job): AutomaticRetry | undefined {
  if (job.state !== "failed" && job.state !== "timed_out") return undefined;
  return job.options?.retry?.automatic?.find((rule) => matches(rule, job));
}

function matches({ exit_status, signal, signal_reason }: AutomaticRetry, job: Job): boolean {
  const { exitStatus, signalReason } = job;
  const name = job.signal ? signalName(job.signal) : "NONE";
  return (
    matchesStatus(exit_status, exitStatus ?? -1) &&
    (signal === undefined || signal === "*" || signal.includes(name)) &&
    (signal_reason === undefined ||
      signal_reason === "*" ||
      signal_reason.some((reason) => reason === (signalReason || "none")))
  );
}

function matchesStatus(expected: AutomaticRetry["exit_status"], status: number): boolean {
  if (expected === undefined) return status !== 0;
  return expected === "*" ? status !== 0 : expected.includes(status);
}

/** All jobs of a step's place have the same rules. */
async function countRetriesBy(tx: Tx, rule: AutomaticRetry, job: Job): Promise<number> {
  const index = job.options?.retry?.automatic?.indexOf(rule);
  let count = 0;
  for (let retry: Job | undefined = job; retry?.retryOfJobId; ) {
    const before: Job | undefined = await findJob(tx, retry.retryOfJobId);
    const earlierRule = before && findRule(before);
    const earlierIndex = earlierRule && before?.options?.retry?.automatic?.indexOf(earlierRule);
    if (retry.retryType === "automatic" && earlierIndex === index) count++;
    retry = before;
  }
  return count;
}
