import type { JobInQueue } from "../../../shared/agents/stacks/job-store.ts";
import { listJobsOf } from "../../../shared/agents/stacks/reserve.ts";
import type { Registrar } from "../../../shared/agents/tokens.ts";
import { notFound, type Problem, Refusal, unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";

/** The documented status of what is wrong about lists of jobs. */
export function badRequest(...given: Problem[]): Refusal {
  const { message, problems } = unprocessable(...given);
  return new Refusal(400, message, { problems });
}

/** A job that the token's stacks may run. @throws Refusal 404 */
export async function requireJobOf(
  services: Services,
  registrar: Registrar,
  id: string,
): Promise<JobInQueue> {
  const [job] = await listJobsOf(services, registrar, [id]);
  if (!job) throw notFound("job");
  return job;
}
