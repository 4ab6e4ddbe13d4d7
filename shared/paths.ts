import type { Config } from "./config.ts";

/**
 * Every address of the program: the patterns that route, and the builders of links in JSON, on pages and in
 * commands. Links are absolute and start with one of the four public addresses.
 */
export const patterns = {
  home: "/",
  healthz: "/healthz",
  readyz: "/readyz",
  deliver: "/deliver/**",
  apiRoot: "/v2",
  builds: "/v2/organizations/:org/builds",
  pipelines: "/v2/organizations/:org/pipelines",
  pipeline: "/v2/organizations/:org/pipelines/:slug",
  pipelineBuilds: "/v2/organizations/:org/pipelines/:slug/builds",
  build: "/v2/organizations/:org/pipelines/:slug/builds/:number",
  jobData: "/v3/jobs/:id/data",
  buildData: "/v3/builds/:id/data",
} as const;

export interface PipelineAddress {
  org: string;
  slug: string;
}

const at = encodeURIComponent;

/** REST addresses of resources, the `url` members of JSON. */
export const api = {
  organization: (config: Config, org: string) => `${config.baseUrl}/v2/organizations/${at(org)}`,
  cluster: (config: Config, org: string, id: string) => `${api.organization(config, org)}/clusters/${id}`,
  pipeline: (config: Config, { org, slug }: PipelineAddress) =>
    `${api.organization(config, org)}/pipelines/${at(slug)}`,
  build: (config: Config, pipeline: PipelineAddress, number: number) =>
    `${api.pipeline(config, pipeline)}/builds/${number}`,
};

/** Addresses of pages, the `web_url` members of JSON. */
export const web = {
  pipeline: (config: Config, { org, slug }: PipelineAddress) =>
    `${config.appUrl}/organizations/${at(org)}/pipelines/${at(slug)}`,
  build: (config: Config, pipeline: PipelineAddress, number: number) =>
    `${web.pipeline(config, pipeline)}/builds/${number}`,
};

/** Where a trigger's sender posts to. The token makes it a secret. */
export function endpointUrl(config: Config, token: string): string {
  return `${config.webhookUrl}/deliver/${token}`;
}
