import { z } from "zod";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { jobEnvironment } from "../../../shared/agents/job-environment.ts";
import { listAgentsById } from "../../../shared/agents/list-store.ts";
import { listWaitingReasons } from "../../../shared/agents/waiting/reason.ts";
import { uploadedEnvironment } from "../../../shared/builds/making/condition-facts.ts";
import { isCommitReported } from "../../../shared/builds/meta-data/meta-data.ts";
import { cancelJob } from "../../../shared/builds/progress/cancel.ts";
import { newPriority, reprioritizeJob } from "../../../shared/builds/progress/reprioritize.ts";
import { unblocking, unblockJob } from "../../../shared/builds/progress/unblock.ts";
import { findUnblocker } from "../../../shared/builds/progress/unblocker.ts";
import { findJobOfBuild, listAnsweredJobs } from "../../../shared/builds/reading/answer-store.ts";
import { retryJob } from "../../../shared/builds/retry.ts";
import { listBuildNumbers } from "../../../shared/builds/rows/build-store.ts";
import { buildEnvironment } from "../../../shared/builds/rows/environment.ts";
import { listTriggeredBuilds } from "../../../shared/builds/triggered/store.ts";
import { findClusterName } from "../../../shared/clusters/store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { environmentOfPipeline } from "../../../shared/pipelines/environment.ts";
import { providerIn } from "../../../shared/pipelines/provider/provider.ts";
import { jobSchema, presentJob, usersOf } from "../../../shared/presenters/job.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { JobType } from "../../../shared/vocabulary.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { atBothAddresses, findBuildOfCall, type JobCall } from "./address.ts";

const tag = "Builds";
const one = { status: 200, schema: jobSchema, description: "The job" } as const;
const environmentSchema = z.object({ env: z.record(z.string(), z.string()) }).meta({ id: "JobEnvironment" });

export function jobOperations(services: Services): Operation[] {
  const { db, cipher, config, clock } = services;

  const anyJobOf = async (call: JobCall, id = call.parameter("job")) => {
    const { build, pipeline } = await findBuildOfCall(services, call);
    const [found] = isId(id) ? await listAnsweredJobs(db, { ids: [id] }) : [];
    if (found?.job.buildId !== build.id) throw notFound("job");
    const agents = await listAgentsById(db, [found.job.agentId]);
    return { build, pipeline, found, agents };
  };
  const jobOf = async (call: JobCall, types: JobType[] = ["script"]) => {
    const job = await anyJobOf(call);
    if (!types.includes(job.found.job.type)) throw notFound("job");
    return job;
  };
  const present = async (call: JobCall, id?: string) => {
    const { build, pipeline, found, agents } = await anyJobOf(call, id);
    const users = await listUsersById(db, usersOf(found));
    const triggered = await listTriggeredBuilds(db, found.job.type === "trigger" ? [found.job.id] : []);
    const context = {
      config,
      org: call.caller.organization.slug,
      now: clock.now(),
      agents,
      users,
      triggered,
    };
    const reason = (await listWaitingReasons(services, build, [found.job])).get(found.job.id);
    return presentJob(context, { build, pipeline, reason, ...found });
  };

  return [
    ...atBothAddresses([patterns.job, patterns.jobById], {
      tag,
      scope: "read_builds",
      methods: ["GET"],
      id: "getJob",
      summary: "A job",
      success: one,
      run: (call) => present(call),
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      path: patterns.cancelJob,
      id: "cancelJob",
      summary: "Cancel a job that has not finished",
      success: one,
      refusals: { 422: ["Job cannot be canceled: it has finished already"] },
      run: async (call) => {
        const { found, ...target } = await jobOf(call, ["script", "trigger"]);
        await cancelJob(services, call.actor, target, found.job.id);
        return present(call);
      },
    }),
    ...atBothAddresses([patterns.reprioritizeJob, patterns.reprioritizeJobById], {
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      id: "reprioritizeJob",
      summary: "Change the priority of a job that waits",
      body: { schema: newPriority },
      success: one,
      refusals: { 422: ["Job cannot be reprioritized: an agent has it, or it has finished"] },
      run: async (call) => {
        const { found, ...target } = await jobOf(call);
        const { priority } = await call.readBody();
        await reprioritizeJob(services, call.actor, target, { jobId: found.job.id, priority });
        return present(call);
      },
    }),
    ...atBothAddresses([patterns.retryJob, patterns.retryJobById], {
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      id: "retryJob",
      summary: "Make a new job in the place of one that ended",
      success: { ...one, description: "The new job" },
      refusals: { 422: ["Job cannot be retried: …"] },
      run: async (call) => {
        const { found, ...target } = await jobOf(call, ["script", "trigger"]);
        const retry = await retryJob(services, call.actor, target, found.job.id);
        return present(call, retry.id);
      },
    }),
    ...atBothAddresses([patterns.unblockJob, patterns.unblockJobById], {
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      id: "unblockJob",
      summary: "Unblock the job of a block or an input step",
      description:
        "The answers become meta-data of the build. There are no teams: a step with allowed_teams is for admins.",
      body: { schema: unblocking, isOptional: true },
      success: one,
      refusals: {
        400: ["This job type cannot be unblocked"],
        403: ["Only admins can unblock this job, because its step names allowed_teams"],
        422: [
          "Unblocker is not a valid user id for this organization",
          "Jobs from canceled builds cannot be unblocked",
          "Job cannot be unblocked: …",
          "Job cannot be unblocked yet: it waits for other steps",
          "Validation failed: …",
        ],
      },
      run: async (call) => {
        const { found, ...target } = await anyJobOf(call);
        await unblockJob(services, call.actor, target, found.job.id, await call.readBody());
        return present(call);
      },
    }),
    ...atBothAddresses([patterns.jobEnvironment, patterns.jobEnvironmentById], {
      tag,
      scope: "read_job_env",
      methods: ["GET"],
      id: "getJobEnvironment",
      summary: "The variables of a job; those of its build and step until an agent has it",
      success: { status: 200, schema: environmentSchema, description: "The variables" },
      run: async (call) => {
        const { organization } = call.caller;
        const { build, pipeline, found, agents } = await jobOf(call);
        const agent = agents.get(found.job.agentId ?? "");
        const job = await findJobOfBuild(db, build.id, found.job.id);
        if (!job) throw notFound("job");
        if (!agent) {
          const address = { org: organization.slug, slug: pipeline.slug };
          return {
            env: {
              ...environmentOfPipeline(cipher, pipeline),
              ...buildEnvironment(cipher, build, address),
              ...uploadedEnvironment(cipher, build),
              ...job.options?.env,
            },
          };
        }
        const creators = await listUsersById(db, build.creatorId === null ? [] : [build.creatorId]);
        const creator = creators.get(build.creatorId ?? "");
        const [rebuiltFrom] = build.rebuiltFromId ? await listBuildNumbers(db, [build.rebuiltFromId]) : [];
        const clusterName = (await findClusterName(db, { id: agent.clusterId }))?.name;
        const context = {
          config,
          cipher,
          organization,
          pipeline,
          provider: await providerIn(db, pipeline),
          build,
          job,
          agent,
          creator,
          rebuiltFrom,
          clusterName,
          unblocker: await findUnblocker(db, build, job),
          isCommitReported: await isCommitReported(services, build.id),
        };
        return { env: jobEnvironment(context) };
      },
    }),
  ];
}
