import type { Command } from "commander";
import {
  asOperator,
  nameProblems,
  requireOrganization,
  slugProblems,
} from "../../shared/accounts/organizations.ts";
import { requireBuild } from "../../shared/builds/builds.ts";
import { issueReadingToken } from "../../shared/builds/meta-data.ts";
import { requireCluster } from "../../shared/clusters/clusters.ts";
import { createPipeline, defaultStep, requirePipeline } from "../../shared/pipelines/pipelines.ts";
import { listPipelines } from "../../shared/pipelines/store.ts";
import { notFound, validationFailed } from "../../shared/refusal.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { type Act, noun, parseId, parsePositive } from "./command.ts";

export function pipelineCommands(act: Act): Command[] {
  return [pipelineCommand(act), jobCommand(act)];
}

function pipelineCommand(act: Act): Command {
  const pipeline = noun("pipeline", "what builds are made of");

  pipeline
    .command("create")
    .description("create a pipeline with one step")
    .requiredOption("--org <slug>", "the organization's slug")
    .requiredOption("--cluster <id>", "the cluster that its jobs run in", parseId)
    .requiredOption("--slug <slug>", "its name in addresses")
    .requiredOption("--name <name>", "its name for people")
    .option("--command <command>", "what the step runs")
    .option("--queue <key>", "the step's queue; without this the cluster's default queue")
    .action((options) =>
      act(async (services) => {
        const problems = [...slugProblems(options.slug), ...nameProblems(options.name)];
        if (problems.length > 0) throw validationFailed(...problems);
        const organization = await requireOrganization(services.db, options.org);
        await requireCluster(services.db, organization.id, options.cluster);
        const step = { command: options.command ?? defaultStep.command };
        const { id, slug, name, steps } = await createPipeline(
          services,
          await asOperator(services.db, organization),
          {
            name: options.name,
            slug: options.slug,
            clusterId: options.cluster,
            steps: [options.queue === undefined ? step : { ...step, agents: { queue: options.queue } }],
          },
        );
        return { id, slug, name, cluster_id: options.cluster, steps };
      }),
    );

  pipeline
    .command("list")
    .description("list the pipelines of an organization")
    .requiredOption("--org <slug>", "the organization's slug")
    .action(({ org }) =>
      act(async ({ db }) => {
        const { id } = await requireOrganization(db, org);
        const pipelines = await listPipelines(db, id);
        return {
          pipelines: pipelines.map((each) => ({
            id: each.id,
            slug: each.slug,
            name: each.name,
            cluster_id: each.clusterId,
            builds: each.lastBuildNumber,
          })),
        };
      }),
    );
  return pipeline;
}

function jobCommand(act: Act): Command {
  const job = noun("job", "the steps of a build");
  const ofBuild = (name: string, description: string) =>
    job
      .command(name)
      .description(description)
      .requiredOption("--org <slug>", "the organization's slug")
      .requiredOption("--pipeline <slug>", "the pipeline's slug")
      .requiredOption("--build <number>", "the build's number", parsePositive);

  ofBuild("token", "a token that reads a build's meta-data for one hour").action((options) =>
    act(async (services) => {
      const { build, jobs } = await findBuild(services, options);
      const [first] = jobs;
      if (!first) throw notFound("job");
      const token = await issueReadingToken(services, first.job);
      return { job_id: first.job.id, build_id: build.id, token };
    }),
  );

  ofBuild("list", "list the jobs of a build").action((options) =>
    act(async (services) => {
      const { jobs } = await findBuild(services, options);
      return {
        jobs: jobs.map((each) => ({
          id: each.job.id,
          state: each.job.state,
          command: each.job.command,
          queue: each.queue?.key ?? null,
        })),
      };
    }),
  );
  return job;
}

async function findBuild({ db }: Services, options: { org: string; pipeline: string; build: number }) {
  const organization = await requireOrganization(db, options.org);
  const pipeline = await requirePipeline(db, organization.id, options.pipeline);
  return requireBuild(db, pipeline, options.build);
}
