import { leasedJobStates } from "../../vocabulary.ts";
import type { JobFacts } from "./job-store.ts";

/** Returns true while an attempt of an agent at a job, once accepted, has not ended. */
export function isLeased(
  job: Pick<JobFacts, "agentId" | "attempt" | "acceptedAt" | "state">,
  { agentId, attempt }: { agentId: string | null; attempt: number },
): boolean {
  const isPresent = job.agentId === agentId && job.attempt === attempt;
  // Until another agent accepts a lost job, the number is that of the lost attempt.
  return isPresent && job.acceptedAt !== null && leasedJobStates.includes(job.state);
}
