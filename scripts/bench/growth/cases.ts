import { pathTo, patterns } from "../../../shared/paths.ts";
import { withServices } from "../../scratch/installation.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { authorization, deviceUrls, makeCodes, type Progress, poll } from "../device/codes.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { rareBranch, wantedCommit } from "./rows.ts";
import { organization, type Server, slugOf } from "./servers.ts";

/** A kind of request. */
export interface Case {
  title: string;
  /** The status that every answer must have. */
  status: number;
  /** Makes the requests of a turn: one that is repeated, or as many as this. */
  requests(server: Server, count: number): PlainRequest[] | Promise<PlainRequest[]>;
}

export interface CaseGroup {
  title: string;
  /** Highest allowed ratio to the fewest rows. */
  maxRatio: number;
  /** Highest wanted CPU µs of a request, by title. */
  maxCpu?: Record<string, number>;
  cases: Case[];
}

const org = organization;
const slug = slugOf(0);
const pipeline = { org, slug };
const delivery = pushPayload(kilobyte);

export const hotPaths: CaseGroup = {
  title: "Hot paths",
  maxRatio: 1.3,
  cases: [
    {
      title: "accept a webhook of 1 KB",
      status: 201,
      requests: ({ seed }) => [postJson(seed.deliveryUrl, delivery)],
    },
    {
      title: "device code",
      status: 200,
      requests: ({ url }) => [authorization(deviceUrls(url).authorizationUrl)],
    },
    { title: "poll of a pending code", status: 400, requests: polls("pending") },
    { title: "exchange of an approved code", status: 200, requests: polls("approved") },
    {
      title: "pause and resume a queue",
      status: 200,
      requests: ({ url, seed }) =>
        [patterns.pauseDispatch, patterns.resumeDispatch].map((pattern) => ({
          method: "POST",
          url: url + pathTo(pattern, { org, cluster: seed.clusterId, queue: seed.queueIds[2] ?? "" }),
          headers: bearer(seed),
        })),
    },
  ],
};

/** A path, or one that depends on the rows. */
type Path = string | ((server: Server) => string);

const builds = pathTo(patterns.builds, { org });
const pipelineBuilds = pathTo(patterns.pipelineBuilds, pipeline);

export const lists: CaseGroup = {
  title: "REST lists",
  maxRatio: 2,
  maxCpu: { builds: 3000 },
  cases: casesOf(bearer, {
    builds,
    "builds, page 20": `${builds}?page=20`,
    "builds, state passed (many)": `${builds}?state=passed`,
    "builds, state running (few)": `${builds}?state=running`,
    "builds, branch main (many)": `${builds}?branch=main`,
    "builds, a branch of 20": `${builds}?branch=${rareBranch}`,
    "builds, branch and state": `${builds}?branch=main&state=failed`,
    "builds, one commit": `${builds}?commit=${wantedCommit}`,
    "builds, not of paused queues": `${builds}?include_paused=false`,
    "builds of a pipeline": pipelineBuilds,
    "builds of a pipeline, state failed": `${pipelineBuilds}?state=failed`,
    "a build": (server) => pathTo(patterns.build, { ...pipeline, number: middleBuild(server) }),
    pipelines: pathTo(patterns.pipelines, { org }),
    "deliveries of a trigger": (server) => pathTo(patterns.deliveries, triggerOf(server)),
    queues: ({ seed }) => pathTo(patterns.queues, { org, cluster: seed.clusterId }),
  }),
};

const buildsPage = pathTo(patterns.buildsPage, { org });

export const pages: CaseGroup = {
  title: "Pages",
  maxRatio: 2,
  cases: casesOf(({ sessionToken }) => ({ Cookie: `signalbox=${sessionToken}` }), {
    home: patterns.home,
    organization: pathTo(patterns.organizationPage, { org }),
    builds: buildsPage,
    "builds, page 20": `${buildsPage}?page=20`,
    "builds, branch and state": `${buildsPage}?branch=main&state=failed`,
    "builds, 7 characters of a commit": `${buildsPage}?commit=${wantedCommit.slice(0, 7)}`,
    pipelines: pathTo(patterns.pipelinesPage, { org }),
    pipeline: pathTo(patterns.pipelinePage, pipeline),
    build: (server) => pathTo(patterns.buildPage, { ...pipeline, number: middleBuild(server) }),
    trigger: (server) => pathTo(patterns.triggerPage, triggerOf(server)),
    "trigger, deliveries of a status": (server) =>
      `${pathTo(patterns.triggerPage, triggerOf(server))}?status=built`,
    delivery: (server) =>
      pathTo(patterns.deliveryPage, { ...triggerOf(server), delivery: server.seed.deliveryId }),
    clusters: pathTo(patterns.clustersPage, { org }),
    cluster: ({ seed }) => pathTo(patterns.clusterPage, { org, cluster: seed.clusterId }),
    queue: ({ seed }) =>
      pathTo(patterns.queuePage, { org, cluster: seed.clusterId, queue: seed.queueIds[0] ?? "" }),
    "audit log": pathTo(patterns.auditPage, { org }),
    "connected apps": patterns.connectedApps,
    "access tokens": patterns.accessTokens,
  }),
};

function casesOf(
  headersOf: (seed: Server["seed"]) => Record<string, string>,
  paths: Record<string, Path>,
): Case[] {
  return Object.entries(paths).map(([title, path]) => ({
    title,
    status: 200,
    requests: (server) => {
      const url = server.url + (typeof path === "string" ? path : path(server));
      return [{ method: "GET", url, headers: headersOf(server.seed) }];
    },
  }));
}

function bearer({ apiToken }: Server["seed"]): Record<string, string> {
  return { Authorization: `Bearer ${apiToken}` };
}

function polls(progress: Progress): Case["requests"] {
  return async (server, count) => {
    const codes = await withServices(server, (services) =>
      makeCodes(services, server.seed, { progress, count }),
    );
    return codes.map((code) => poll(deviceUrls(server.url).tokenUrl, code));
  };
}

function triggerOf({ seed }: Server) {
  return { ...pipeline, trigger: seed.triggerIds.get(seed.pipelines[0] as string) as string };
}

function middleBuild({ seed }: Server): string {
  return String(Math.ceil((seed.lastBuildNumbers[0] as number) / 2));
}
