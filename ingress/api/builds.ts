import { defineHandler, getRouterParam } from "h3";
import type { Organization } from "../../shared/accounts/store.ts";
import { type BuildDetails, listBuildDetails, requireBuild } from "../../shared/builds/builds.ts";
import { buildEnvironment } from "../../shared/builds/environment.ts";
import type { Config } from "../../shared/config.ts";
import { api, web } from "../../shared/paths.ts";
import type { Services } from "../../shared/services.ts";
import { requireCaller } from "../principal.ts";
import { readBuildFilter } from "./build-filter.ts";
import { graphqlId } from "./graphql-id.ts";
import { linkPages, readPage } from "./pagination.ts";
import { pipelineOfPath, presentPipeline } from "./pipelines.ts";

/** GET /v2/organizations/:org/builds and …/pipelines/:slug/builds: newest first. */
export function listBuildsHandler(services: Services) {
  const { db, config } = services;
  return defineHandler(async (event) => {
    const { organization } = await requireCaller(services, event, "read_builds");
    const isOfPipeline = getRouterParam(event, "slug") !== undefined;
    const pipeline = isOfPipeline ? await pipelineOfPath(services, event, organization) : undefined;
    const filter = { ...readBuildFilter(event), organizationId: organization.id, pipelineId: pipeline?.id };
    const page = readPage(event);

    const { items, total } = await listBuildDetails(db, filter, page);
    linkPages(event, page, total, config.baseUrl);
    return items.map((details) => presentBuild(config, organization, details));
  });
}

/** GET /v2/organizations/:org/pipelines/:slug/builds/:number */
export function getBuildHandler(services: Services) {
  const { db, config } = services;
  return defineHandler(async (event) => {
    const { organization } = await requireCaller(services, event, "read_builds");
    const pipeline = await pipelineOfPath(services, event, organization);
    const details = await requireBuild(db, pipeline, readNumber(getRouterParam(event, "number")));
    return presentBuild(config, organization, details);
  });
}

/** Anything that is not the number of a build finds none. */
function readNumber(text = ""): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
}

function presentBuild(
  config: Config,
  organization: Organization,
  { build, pipeline, jobs, metaData }: BuildDetails,
) {
  const address = { org: organization.slug, slug: pipeline.slug };
  const webUrl = web.build(config, address, build.number);
  return {
    id: build.id,
    graphql_id: graphqlId("Build", build.id),
    url: api.build(config, address, build.number),
    web_url: webUrl,
    number: build.number,
    state: build.state,
    blocked: false,
    message: build.message,
    commit: build.commit,
    branch: build.branch,
    env: buildEnvironment(build, pipeline.slug, organization.slug),
    source: build.source,
    creator: null,
    created_at: build.createdAt,
    scheduled_at: build.createdAt,
    started_at: build.startedAt,
    finished_at: build.finishedAt,
    meta_data: metaData,
    pipeline: presentPipeline(config, organization, pipeline),
    jobs: jobs.map((each) => presentJob(each, webUrl)),
  };
}

function presentJob({ job, queue }: BuildDetails["jobs"][number], buildWebUrl: string) {
  return {
    id: job.id,
    graphql_id: graphqlId("Job", job.id),
    type: "script",
    name: job.label,
    state: job.state,
    command: job.command,
    agent_query_rules: [`queue=${queue.key}`],
    cluster_id: queue.clusterId,
    cluster_queue_id: queue.id,
    web_url: `${buildWebUrl}#${job.id}`,
    created_at: job.createdAt,
    scheduled_at: job.createdAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    exit_status: job.exitStatus,
  };
}
