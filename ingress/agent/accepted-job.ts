import { z } from "zod";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { jobEnvironment } from "../../shared/agents/job-environment.ts";
import type { Accepted } from "../../shared/agents/lease.ts";
import { maxChunkBytes } from "../../shared/agents/logs/codec.ts";
import type { Agent } from "../../shared/agents/store.ts";
import { listBuildNumbers } from "../../shared/builds/store.ts";
import { findPipelineFactsById } from "../../shared/pipelines/store.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal } from "../../shared/refusal.ts";
import { oncePerLoopTurn } from "../../shared/sharing/once-per-loop-turn.ts";
import * as field from "../operations/fields.ts";

const chunkSeconds = 1;

export const acceptedJob = z.object({
  id: field.id,
  state: z.string(),
  env: z.record(z.string(), z.string()),
  chunks_max_size_bytes: z.int(),
  chunks_interval_seconds: z.int(),
  log_max_size_bytes: z.int(),
  token: z.string().meta({ description: "The job token of this attempt" }),
  runnable_at: field.timestamp.nullable(),
});

/** Makes the answers of accept and acquire. Jobs that were accepted together share reads. */
export function acceptedPresenter({ db, config, cipher }: Services) {
  const findPipeline = oncePerLoopTurn((id: string) => findPipelineFactsById(db, { id }));
  const findOrganization = oncePerLoopTurn((id: string) => findOrganizationById(db, id));

  /** @throws Refusal 422 if the pipeline was deleted */
  return async (agent: Agent, { job, build, token }: Accepted) => {
    const pipeline = await findPipeline(build.pipelineId);
    const organization = await findOrganization(build.organizationId);
    if (!pipeline || !organization) throw new Refusal(422, "The job's pipeline was deleted");
    const creator = build.creatorId
      ? (await listUsersById(db, [build.creatorId])).get(build.creatorId)
      : undefined;
    const [rebuiltFrom] = build.rebuiltFromId ? await listBuildNumbers(db, [build.rebuiltFromId]) : [];
    const context = { config, cipher, organization, pipeline, build, job, agent, creator, rebuiltFrom };
    return {
      id: job.id,
      state: job.state,
      env: jobEnvironment(context),
      chunks_max_size_bytes: maxChunkBytes,
      chunks_interval_seconds: chunkSeconds,
      log_max_size_bytes: config.jobLogBytes,
      token,
      runnable_at: job.scheduledAt,
    };
  };
}
