import type { Command } from "commander";
import { asOperator, slugProblems } from "../../shared/accounts/organizations.ts";
import { issueReadingToken } from "../../shared/builds/meta-data/meta-data.ts";
import { findBuild, listJobs } from "../../shared/builds/rows/build-store.ts";
import { newPipeline } from "../../shared/pipelines/input.ts";
import { createPipeline, defaultStep } from "../../shared/pipelines/pipelines.ts";
import { providerIn } from "../../shared/pipelines/provider/provider.ts";
import { openWebhook, requireWebhook, rotateWebhook } from "../../shared/pipelines/provider/webhook.ts";
import { listPipelines, type Pipeline } from "../../shared/pipelines/store.ts";
import { Refusal, validationFailed } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Act, newCommand, orgOption, parsePositive, requireValid } from "./command.ts";
import { namedCluster, namedOrganization, namedPipeline, noneFound } from "./find.ts";

export function pipelineCommands(act: Act): Command[] {
  return [pipelineCommand(act), jobCommand(act)];
}

function pipelineCommand(act: Act): Command {
  const pipeline = newCommand("pipeline", "pipelines, and their steps");

  pipeline
    .command("create")
    .description("create a pipeline with one step")
    .requiredOption(...orgOption)
    .requiredOption("--cluster <name>", "the cluster that its jobs run in: its name, or its id")
    .requiredOption("--slug <slug>", "its name in addresses")
    .requiredOption("--name <name>", "its name for people")
    .option("--command <command>", "the command that the step runs")
    .option("--queue <key>", "the step's queue; without this the cluster's default queue")
    .action((options) =>
      act(async (services) => {
        const problems = slugProblems(options.slug);
        if (problems.length > 0) throw validationFailed(...problems);
        const { operator, cluster } = await namedCluster(services.db, options);
        const step = { command: options.command ?? defaultStep.command };
        const { steps: given = [], ...members } = requireValid(newPipeline, {
          name: options.name,
          slug: options.slug,
          cluster_id: cluster.id,
          steps: [options.queue === undefined ? step : { ...step, agents: { queue: options.queue } }],
        });
        const { id, slug, name, steps } = await createPipeline(services, operator, {
          ...members,
          steps: given,
        });
        return { id, slug, name, cluster_id: cluster.id, steps };
      }),
    );

  pipeline
    .command("webhook")
    .description("show what the source host has to know: the address that it posts to, and the secret")
    .requiredOption(...orgOption)
    .requiredOption("--pipeline <slug>", "the pipeline's slug")
    .option("--rotate", "replace both: the former address stops working at once", false)
    .action((options) =>
      act(async (services) => {
        const { organization, pipeline } = await namedPipeline(services.db, options);
        if (!(await providerIn(services.db, pipeline))) throw new Refusal(404, describeNoProvider(pipeline));
        const operator = await asOperator(services.db, organization);
        const { webhookUrl, secret } = options.rotate
          ? await rotateWebhook(services, operator, pipeline)
          : openWebhook(services, await requireWebhook(services, operator, pipeline));
        return { webhook_url: webhookUrl, secret };
      }),
    );

  pipeline
    .command("list")
    .description("list the pipelines of an organization")
    .requiredOption(...orgOption)
    .action(({ org }) =>
      act(async ({ db }) => {
        const { id } = await namedOrganization(db, org);
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

function describeNoProvider({ slug, repository }: Pick<Pipeline, "slug" | "repository">): string {
  return repository === null
    ? `The pipeline "${slug}" has no repository, so it has no source host`
    : `The repository of "${slug}" is at no known source host: repository-connection create adds one`;
}

function jobCommand(act: Act): Command {
  const job = newCommand("job", "the jobs of a build");
  const ofBuild = (name: string, description: string) =>
    job
      .command(name)
      .description(description)
      .requiredOption(...orgOption)
      .requiredOption("--pipeline <slug>", "the pipeline's slug")
      .requiredOption("--build <number>", "the build's number", parsePositive);

  ofBuild("token", "a token that reads a build's meta-data for one hour").action((options) =>
    act(async (services) => {
      const { build, jobs } = await namedBuild(services, options);
      const [first] = jobs;
      if (!first) throw noneFound("job of build", build.number, options.pipeline);
      const token = await issueReadingToken(services, first.job);
      return { job_id: first.job.id, build_id: build.id, token };
    }),
  );

  ofBuild("list", "list the jobs of a build").action((options) =>
    act(async (services) => {
      const { jobs } = await namedBuild(services, options);
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

async function namedBuild({ db }: Services, options: { org: string; pipeline: string; build: number }) {
  const { pipeline } = await namedPipeline(db, options);
  const build = await findBuild(db, pipeline.id, options.build);
  if (!build) throw noneFound("build", options.build, pipeline.slug);
  return { build, jobs: await listJobs(db, [build.id]) };
}
