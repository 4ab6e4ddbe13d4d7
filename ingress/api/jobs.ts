import { z } from "zod";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { jobEnvironment } from "../../shared/agents/job-environment.ts";
import { listAgentsById } from "../../shared/agents/list-store.ts";
import { findJobOfBuild, listAnsweredJobs } from "../../shared/builds/answer-store.ts";
import { requireBuild } from "../../shared/builds/builds.ts";
import { cancelJob } from "../../shared/builds/cancel.ts";
import { buildEnvironment } from "../../shared/builds/environment.ts";
import { retryJob } from "../../shared/builds/retry.ts";
import { listBuildNumbers } from "../../shared/builds/store.ts";
import { isId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import { environmentOfPipeline } from "../../shared/pipelines/environment.ts";
import type { Services } from "../../shared/process/services.ts";
import { notFound } from "../../shared/refusal.ts";
import { parseBuildNumber } from "../http/routing.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { jobSchema, presentJob } from "./json/job.ts";
import { pipelineOf } from "./pipelines.ts";

const tag = "Builds";
const one = { status: 200, schema: jobSchema, description: "The job" } as const;
const environmentSchema = z.object({ env: z.record(z.string(), z.string()) }).meta({ id: "JobEnvironment" });

type JobCall = Pick<Call<unknown>, "caller" | "parameter">;

export function jobOperations(services: Services): Operation[] {
  const { db, cipher, config, clock } = services;

  const jobOf = async (call: JobCall, id = call.parameter("job")) => {
    const pipeline = await pipelineOf(services, call);
    const build = await requireBuild(db, pipeline, parseBuildNumber(call.parameter("number")));
    const [found] = isId(id) ? await listAnsweredJobs(db, { ids: [id] }) : [];
    if (found?.job.buildId !== build.id || found.job.type !== "script") throw notFound("job");
    const agents = await listAgentsById(db, [found.job.agentId]);
    return { build, pipeline, found, agents };
  };
  const present = async (call: JobCall, id?: string) => {
    const { build, pipeline, found, agents } = await jobOf(call, id);
    const context = { config, org: call.caller.organization.slug, now: clock.now(), agents };
    return presentJob(context, { build, pipeline, ...found });
  };

  return [
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
        const { found, ...target } = await jobOf(call);
        await cancelJob(services, call.actor, target, found.job.id);
        return present(call);
      },
    }),
    operation({
      tag,
      scope: "write_builds",
      methods: ["PUT"],
      path: patterns.retryJob,
      id: "retryJob",
      summary: "Make a new job in the place of one that ended",
      success: { ...one, description: "The new job" },
      refusals: { 422: ["Job cannot be retried: …"] },
      run: async (call) => {
        const { found, ...target } = await jobOf(call);
        const retry = await retryJob(services, call.actor, target, found.job.id);
        return present(call, retry.id);
      },
    }),
    operation({
      tag,
      scope: "read_job_env",
      methods: ["GET"],
      path: patterns.jobEnvironment,
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
              ...job.options?.env,
            },
          };
        }
        const creators = await listUsersById(db, build.creatorId === null ? [] : [build.creatorId]);
        const creator = creators.get(build.creatorId ?? "");
        const [rebuiltFrom] = build.rebuiltFromId ? await listBuildNumbers(db, [build.rebuiltFromId]) : [];
        const context = { config, cipher, organization, pipeline, build, job, agent, creator, rebuiltFrom };
        return { env: jobEnvironment(context) };
      },
    }),
  ];
}
