import { pathTo, patterns } from "../paths.ts";
import type { Config } from "./config.ts";

// Absolute links, on the four public addresses of the configuration.

export interface PipelineAddress {
  org: string;
  slug: string;
}

export interface BuildAddress extends PipelineAddress {
  number: number;
}

export interface QueueAddress {
  org: string;
  cluster: string;
  queue: string;
}

/** The `url` members of JSON: resources of the REST API. */
export const api = {
  organization: ({ baseUrl }: Config, org: string) => baseUrl + pathTo(patterns.organization, { org }),
  cluster: ({ baseUrl }: Config, org: string, cluster: string) =>
    baseUrl + pathTo(patterns.cluster, { org, cluster }),
  queue: ({ baseUrl }: Config, queue: QueueAddress) => baseUrl + pathTo(patterns.queue, queue),
  agentToken: ({ baseUrl }: Config, address: { org: string; cluster: string; token: string }) =>
    baseUrl + pathTo(patterns.agentToken, address),
  secret: ({ baseUrl }: Config, address: { org: string; cluster: string; secret: string }) =>
    baseUrl + pathTo(patterns.secret, address),
  connection: ({ baseUrl }: Config, org: string, connection: string) =>
    baseUrl + pathTo(patterns.connection, { org, connection }),
  service: ({ baseUrl }: Config, org: string, service: string) =>
    baseUrl + pathTo(patterns.service, { org, service }),
  agent: ({ baseUrl }: Config, org: string, agent: string) =>
    baseUrl + pathTo(patterns.agent, { org, agent }),
  apiSettings: ({ baseUrl }: Config, org: string) => baseUrl + pathTo(patterns.apiSettings, { org }),
  pipelineSettings: ({ baseUrl }: Config, org: string) =>
    baseUrl + pathTo(patterns.pipelineSettings, { org }),
  stack: ({ baseUrl }: Config, org: string, stack: string) =>
    baseUrl + pathTo(patterns.stack, { org, stack }),
  pipeline: ({ baseUrl }: Config, pipeline: PipelineAddress) => baseUrl + pathTo(patterns.pipeline, pipeline),
  builds: ({ baseUrl }: Config, pipeline: PipelineAddress) =>
    baseUrl + pathTo(patterns.pipelineBuilds, pipeline),
  build: ({ baseUrl }: Config, pipeline: PipelineAddress, number: number) =>
    baseUrl + pathTo(patterns.build, { ...pipeline, number }),
  unblockJob: ({ baseUrl }: Config, build: BuildAddress, job: string) =>
    baseUrl + pathTo(patterns.unblockJob, { ...build, job }),
  jobLog: ({ baseUrl }: Config, build: BuildAddress, job: string) =>
    baseUrl + pathTo(patterns.jobLog, { ...build, job }),
  jobLogText: ({ baseUrl }: Config, build: BuildAddress, job: string) =>
    baseUrl + pathTo(patterns.jobLogText, { ...build, job }),
  stepUpload: ({ baseUrl }: Config, build: BuildAddress, upload: string) =>
    baseUrl + pathTo(patterns.stepUpload, { ...build, upload }),
  jobArtifacts: ({ baseUrl }: Config, build: BuildAddress, job: string) =>
    baseUrl + pathTo(patterns.jobsArtifacts, { ...build, job }),
  artifact: ({ baseUrl }: Config, build: BuildAddress, job: string, artifact: string) =>
    baseUrl + pathTo(patterns.artifact, { ...build, job, artifact }),
  schedule: ({ baseUrl }: Config, pipeline: PipelineAddress, schedule: string) =>
    baseUrl + pathTo(patterns.schedule, { ...pipeline, schedule }),
  trigger: ({ baseUrl }: Config, pipeline: PipelineAddress, trigger: string) =>
    baseUrl + pathTo(patterns.trigger, { ...pipeline, trigger }),
  delivery: ({ baseUrl }: Config, pipeline: PipelineAddress, trigger: string, delivery: string) =>
    baseUrl + pathTo(patterns.delivery, { ...pipeline, trigger, delivery }),
  providerDelivery: ({ baseUrl }: Config, pipeline: PipelineAddress, delivery: string) =>
    baseUrl + pathTo(patterns.providerDelivery, { ...pipeline, delivery }),
  githubWebhooks: ({ baseUrl }: Config, pipeline: PipelineAddress) =>
    baseUrl + pathTo(patterns.githubWebhooks, pipeline),
  bulkRebuild: ({ baseUrl }: Config, pipeline: PipelineAddress, trigger: string, rebuild: string) =>
    baseUrl + pathTo(patterns.bulkRebuild, { ...pipeline, trigger, rebuild }),
};

/** The `web_url` members of JSON: pages. */
export const web = {
  organization: ({ appUrl }: Config, org: string) => appUrl + pathTo(patterns.organizationPage, { org }),
  buildMails: ({ appUrl }: Config, org: string) => appUrl + pathTo(patterns.buildMailsPage, { org }),
  unsubscribe: ({ appUrl }: Config, token: string) => appUrl + pathTo(patterns.unsubscribe, { token }),
  service: ({ appUrl }: Config, org: string, service: string) =>
    appUrl + pathTo(patterns.servicePage, { org, service }),
  cluster: ({ appUrl }: Config, org: string, cluster: string) =>
    appUrl + pathTo(patterns.clusterPage, { org, cluster }),
  queue: ({ appUrl }: Config, queue: QueueAddress) => appUrl + pathTo(patterns.queuePage, queue),
  connection: ({ appUrl }: Config, org: string, connection: string) =>
    appUrl + pathTo(patterns.connectionPage, { org, connection }),
  agent: ({ appUrl }: Config, org: string, agent: string) =>
    appUrl + pathTo(patterns.agentPage, { org, agent }),
  pipeline: ({ appUrl }: Config, pipeline: PipelineAddress) =>
    appUrl + pathTo(patterns.pipelinePage, pipeline),
  build: ({ appUrl }: Config, pipeline: PipelineAddress, number: number) =>
    appUrl + pathTo(patterns.buildPage, { ...pipeline, number }),
  /** The row of a job on the page of its build. */
  job: ({ appUrl }: Config, { number, ...pipeline }: BuildAddress, job: string) =>
    `${appUrl}${pathTo(patterns.buildPage, { ...pipeline, number })}#${job}`,
  badge: ({ appUrl }: Config, pipelineId: string) =>
    appUrl + pathTo(patterns.badge, { file: `${pipelineId}.svg` }),
};

/** Pages for the code of a device. */
export const device = {
  enterCode: ({ authUrl }: Config) => authUrl + pathTo(patterns.enterCode),
  enterThisCode: ({ authUrl }: Config, code: string) => authUrl + pathTo(patterns.enterThisCode, { code }),
};

/** Names this installation in the identity tokens of jobs. The root of the address is that of OAuth. */
export function issuerOf({ baseUrl }: Config): string {
  return `${baseUrl}/v3`;
}

/** A sender posts deliveries here. The token makes it a secret. */
export function endpointUrl({ webhookUrl }: Config, token: string): string {
  return `${webhookUrl}/deliver/${token}`;
}

const loopback = /^((localhost|127(\.\d+){3}|\[::1\])(:\d+)?|::1)$/;

/** Says if only this machine reaches a host. @param host with or without its port */
export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

/**
 * Returns the addresses of pages and sign-ins where anybody on the network path can take a session. Behind a TLS proxy
 * the addresses say https. A loopback address has no network path, unless the port is open to other machines.
 */
export function addressesOnPlainHttp({ host, appUrl, authUrl }: Config): string[] {
  const isLocal = (url: string) => isLoopback(host) && isLoopback(new URL(url).host);
  return [...new Set([appUrl, authUrl])].filter((url) => url.startsWith("http:") && !isLocal(url));
}
