import { defineHandler, getRouterParam, type H3Event } from "h3";
import { slugProblems } from "../../shared/accounts/organizations.ts";
import type { Organization } from "../../shared/accounts/store.ts";
import { countPipelines, listPipelines, type Pipeline } from "../../shared/builds/pipeline-store.ts";
import { requirePipeline } from "../../shared/builds/pipelines.ts";
import type { Config } from "../../shared/config.ts";
import { api, web } from "../../shared/paths.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services.ts";
import { requireCaller } from "../principal.ts";
import { graphqlId } from "./graphql-id.ts";
import { linkPages, readPage } from "./pagination.ts";

/** GET /v2/organizations/:org/pipelines */
export function listPipelinesHandler(services: Services) {
  const { db, config } = services;
  return defineHandler(async (event) => {
    const { organization } = await requireCaller(services, event, "read_pipelines");
    const page = readPage(event);

    linkPages(event, page, await countPipelines(db, organization.id), config.baseUrl);
    const pipelines = await listPipelines(db, organization.id, page);
    return pipelines.map((pipeline) => presentPipeline(config, organization, pipeline));
  });
}

/** GET /v2/organizations/:org/pipelines/:slug */
export function getPipelineHandler(services: Services) {
  return defineHandler(async (event) => {
    const { organization } = await requireCaller(services, event, "read_pipelines");
    const pipeline = await pipelineOfPath(services, event, organization);
    return presentPipeline(services.config, organization, pipeline);
  });
}

/** @throws Refusal 404 */
export async function pipelineOfPath(
  { db }: Services,
  event: H3Event,
  organization: Organization,
): Promise<Pipeline> {
  const slug = getRouterParam(event, "slug", { decode: true }) ?? "";
  if (slugProblems(slug).length > 0) throw notFound("pipeline");
  return requirePipeline(db, organization.id, slug);
}

export function presentPipeline(config: Config, organization: Organization, pipeline: Pipeline) {
  const address = { org: organization.slug, slug: pipeline.slug };
  return {
    id: pipeline.id,
    graphql_id: graphqlId("Pipeline", pipeline.id),
    url: api.pipeline(config, address),
    web_url: web.pipeline(config, address),
    name: pipeline.name,
    slug: pipeline.slug,
    cluster_id: pipeline.clusterId,
    default_branch: pipeline.defaultBranch,
    steps: pipeline.steps,
    created_at: pipeline.createdAt,
  };
}
