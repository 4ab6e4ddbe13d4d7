import { z } from "zod";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { type JobContext, jobEnvironment } from "../../shared/agents/job-environment.ts";
import type { Accepted } from "../../shared/agents/lease.ts";
import { maxChunkBytes } from "../../shared/agents/logs/codec.ts";
import type { Agent } from "../../shared/agents/store.ts";
import { isCommitReported, isFullCommit } from "../../shared/builds/meta-data/meta-data.ts";
import { findUnblocker } from "../../shared/builds/progress/unblocker.ts";
import { listBuildNumbers } from "../../shared/builds/rows/build-store.ts";
import type { Job } from "../../shared/builds/rows/job-store.ts";
import { findClusterName } from "../../shared/clusters/store.ts";
import { providerIn } from "../../shared/pipelines/provider/provider.ts";
import { findPipelineFactsById } from "../../shared/pipelines/store.ts";
import * as field from "../../shared/presenters/fields.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { readOnce } from "../../shared/sharing/gatherer.ts";

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
  priority: z.int(),
  matrix_permutation: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: "Of a job of a matrix: its values; a dimension without a name is empty" }),
  step: z
    .looseObject({
      signature: z.record(z.string(), z.unknown()).optional(),
      secrets: z
        .array(z.object({ key: z.string(), environment_variable: z.string() }))
        .optional()
        .meta({ description: "The agent fetches these" }),
    })
    .optional()
    .meta({
      description:
        "Of a signed step: the signature and what it signs, as they were uploaded. Of a step with secrets: these",
    }),
});

function presentStep({ command, options }: Job) {
  const { signature, signed, env, plugins, matrix, secrets } = options ?? {};
  const ofSecrets = secrets && { secrets };
  const whole = signature && {
    ...(signed ?? { command: command ?? "", env, plugins, ...ofSecrets }),
    signature,
  };
  const step = whole ?? ofSecrets;
  return { ...(matrix && { matrix_permutation: matrix }), ...(step && { step }) };
}

export type EnvironmentReader = ReturnType<typeof environmentReader>;

/** Makes the variables of jobs. Jobs that are read together share reads. */
export function environmentReader(services: Services) {
  const { db, config, cipher } = services;
  const findReport = readOnce((buildId: string) => isCommitReported(services, buildId));
  const findPipeline = readOnce(async (id: string) => {
    const pipeline = await findPipelineFactsById(db, { id });
    return pipeline && { pipeline, provider: await providerIn(db, pipeline) };
  });
  const findName = readOnce((id: string) => findClusterName(db, { id }));
  const findOrganization = readOnce((id: string) => findOrganizationById(db, id));

  /** @throws Refusal 422 if the pipeline was deleted */
  return async ({ agent, job, build, sshKey }: Pick<JobContext, "agent" | "job" | "build" | "sshKey">) => {
    const found = await findPipeline(build.pipelineId);
    const organization = await findOrganization(build.organizationId);
    if (!found || !organization) throw new Refusal(422, "The job's pipeline was deleted");
    const creator = build.creatorId
      ? (await listUsersById(db, [build.creatorId])).get(build.creatorId)
      : undefined;
    const [rebuiltFrom] = build.rebuiltFromId ? await listBuildNumbers(db, [build.rebuiltFromId]) : [];
    const clusterName = (await findName(agent.clusterId))?.name;
    return jobEnvironment({
      config,
      cipher,
      organization,
      ...found,
      build,
      job,
      agent,
      creator,
      rebuiltFrom,
      clusterName,
      unblocker: await findUnblocker(db, build, job),
      isCommitReported: isFullCommit(build.commit) && (await findReport(build.id)),
      sshKey,
    });
  };
}

/** Makes the answers of accept and acquire. */
export function acceptedPresenter({ config }: Services, readEnvironment: EnvironmentReader) {
  /** @throws Refusal 422 if the pipeline was deleted */
  return async (agent: Agent, { job, build, token, sshKey }: Accepted) => ({
    id: job.id,
    state: job.state,
    env: await readEnvironment({ agent, job, build, sshKey }),
    chunks_max_size_bytes: maxChunkBytes,
    chunks_interval_seconds: chunkSeconds,
    log_max_size_bytes: config.jobLogBytes,
    token,
    runnable_at: job.scheduledAt,
    priority: job.priority,
    ...presentStep(job),
  });
}
