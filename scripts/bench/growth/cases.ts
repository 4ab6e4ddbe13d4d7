import { pathTo, patterns } from "../../../shared/paths.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { client } from "../device/contestants.ts";
import type { PlainRequest } from "../load/request.ts";
import { organization, slugOf } from "./base.ts";
import { rareBranch, wantedCommit } from "./rows.ts";
import type { Server } from "./servers.ts";

/** A kind of request. */
export interface Case {
  title: string;
  /** The status that every answer must have. */
  status: number;
  /** Makes the requests of a turn, at most this many. */
  requests(server: Server, count: number): Promise<PlainRequest[]>;
}

export interface CaseGroup {
  title: string;
  /** Highest allowed ratio of the largest number of rows to the fewest. */
  maxRatio: number;
  cases: Case[];
}

const org = organization;
const slug = slugOf(0);
const pipeline = { org, slug };
const deliveryBody = pushPayload(kilobyte);

export const hotPaths: CaseGroup = {
  title: "Hot paths",
  maxRatio: 1.3,
  cases: [
    {
      title: "accept a webhook of 1 KB",
      status: 201,
      requests: async ({ base }, count) => repeat(count, postJson(base.deliveryUrl, deliveryBody)),
    },
    {
      title: "device code",
      status: 200,
      requests: async (server, count) =>
        repeat(
          count,
          postForm(urlOf(server, patterns.deviceAuthorization), {
            client_id: client.id,
            scope: client.scopes.join(" "),
          }),
        ),
    },
    {
      title: "poll of a pending code",
      status: 400,
      requests: async (server, count) => pollsOf(server, await server.makeCodes("pending", count)),
    },
    {
      title: "exchange of an approved code",
      status: 200,
      requests: async (server, count) => pollsOf(server, await server.makeCodes("approved", count)),
    },
  ],
};

export const lists: CaseGroup = {
  title: "REST lists",
  maxRatio: 2,
  cases: [
    call("builds", () => pathTo(patterns.builds, { org })),
    call("builds, page 20", () => `${pathTo(patterns.builds, { org })}?page=20`),
    call("builds, state passed (many)", () => `${pathTo(patterns.builds, { org })}?state=passed`),
    call("builds, state running (few)", () => `${pathTo(patterns.builds, { org })}?state=running`),
    call("builds, branch main (many)", () => `${pathTo(patterns.builds, { org })}?branch=main`),
    call("builds, a branch of 20", () => `${pathTo(patterns.builds, { org })}?branch=${rareBranch}`),
    call("builds, branch and state", () => `${pathTo(patterns.builds, { org })}?branch=main&state=failed`),
    call("builds, one commit", () => `${pathTo(patterns.builds, { org })}?commit=${wantedCommit}`),
    call("builds, not of paused queues", () => `${pathTo(patterns.builds, { org })}?include_paused=false`),
    call("builds of a pipeline", () => pathTo(patterns.pipelineBuilds, pipeline)),
    call(
      "builds of a pipeline, state failed",
      () => `${pathTo(patterns.pipelineBuilds, pipeline)}?state=failed`,
    ),
    call("a build", (server) => pathTo(patterns.build, { ...pipeline, number: middleBuild(server) })),
    call("pipelines", () => pathTo(patterns.pipelines, { org })),
    call("deliveries of a trigger", (server) =>
      pathTo(patterns.deliveries, { ...pipeline, trigger: triggerOf(server) }),
    ),
    call("queues", ({ base }) => pathTo(patterns.queues, { org, cluster: base.clusterId })),
  ],
};

export const pages: CaseGroup = {
  title: "Pages",
  maxRatio: 2,
  cases: [
    visit("home", () => patterns.home),
    visit("organization", () => pathTo(patterns.organizationPage, { org })),
    visit("builds", () => pathTo(patterns.buildsPage, { org })),
    visit("builds, page 20", () => `${pathTo(patterns.buildsPage, { org })}?page=20`),
    visit(
      "builds, branch and state",
      () => `${pathTo(patterns.buildsPage, { org })}?branch=main&state=failed`,
    ),
    visit("builds, 7 characters of a commit", () => {
      const commit = wantedCommit.slice(0, 7);
      return `${pathTo(patterns.buildsPage, { org })}?commit=${commit}`;
    }),
    visit("pipelines", () => pathTo(patterns.pipelinesPage, { org })),
    visit("pipeline", () => pathTo(patterns.pipelinePage, pipeline)),
    visit("build", (server) => pathTo(patterns.buildPage, { ...pipeline, number: middleBuild(server) })),
    visit("trigger", (server) => pathTo(patterns.triggerPage, { ...pipeline, trigger: triggerOf(server) })),
    visit("trigger, deliveries of a status", (server) =>
      pathTo(patterns.triggerPage, { ...pipeline, trigger: triggerOf(server) }).concat("?status=built"),
    ),
    visit("delivery", (server) =>
      pathTo(patterns.deliveryPage, {
        ...pipeline,
        trigger: triggerOf(server),
        delivery: server.inserted.deliveryId,
      }),
    ),
    visit("clusters", () => pathTo(patterns.clustersPage, { org })),
    visit("cluster", ({ base }) => pathTo(patterns.clusterPage, { org, cluster: base.clusterId })),
    visit("queue", ({ base }) =>
      pathTo(patterns.queuePage, { org, cluster: base.clusterId, queue: base.queueIds[0] as string }),
    ),
    visit("audit log", () => pathTo(patterns.auditPage, { org })),
    visit("connected apps", () => patterns.connectedApps),
    visit("access tokens", () => patterns.accessTokens),
  ],
};

function call(title: string, pathOf: (server: Server) => string): Case {
  return get(title, pathOf, ({ base }) => ({ Authorization: `Bearer ${base.apiToken}` }));
}

function visit(title: string, pathOf: (server: Server) => string): Case {
  return get(title, pathOf, ({ base }) => ({ Cookie: `signalbox=${base.sessionToken}` }));
}

function get(
  title: string,
  pathOf: (server: Server) => string,
  headersOf: (server: Server) => Record<string, string>,
): Case {
  return {
    title,
    status: 200,
    requests: async (server, count) => {
      const url = urlOf(server, pathOf(server));
      return repeat(count, { method: "GET", url, headers: headersOf(server) });
    },
  };
}

function pollsOf(server: Server, deviceCodes: string[]): PlainRequest[] {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  return deviceCodes.map((device_code) =>
    postForm(urlOf(server, patterns.token), { grant_type, client_id: client.id, device_code }),
  );
}

export function postJson(url: string, body: string): PlainRequest {
  return { method: "POST", url, headers: { "Content-Type": "application/json" }, body };
}

function postForm(url: string, form: Record<string, string>): PlainRequest {
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  return { method: "POST", url, headers, body: new URLSearchParams(form).toString() };
}

function urlOf({ installation }: Server, path: string): string {
  return `http://127.0.0.1:${installation.port}${path}`;
}

function triggerOf({ base }: Server): string {
  return base.triggerIds.get(base.pipelines[0] as string) as string;
}

function middleBuild({ inserted }: Server): string {
  return String(Math.ceil((inserted.lastBuildNumbers[0] as number) / 2));
}

function repeat(count: number, request: PlainRequest): PlainRequest[] {
  return Array<PlainRequest>(count).fill(request);
}
