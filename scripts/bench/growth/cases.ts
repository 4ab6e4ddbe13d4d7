import { patterns } from "../../../shared/paths.ts";
import { githubHeaders } from "../../scratch/github.ts";
import { branchOfRequest, githubPush, githubRequest, kilobyte, pushPayload } from "../bodies.ts";
import { authorization, deviceUrls, makeCodes, type Progress, poll } from "../device/codes.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { pathOf } from "../servers/tenant.ts";
import { wantedCommit } from "./rows.ts";
import type { Server } from "./servers.ts";
import { stackCases } from "./stacks.ts";

/** A kind of request. */
export interface Case {
  title: string;
  /** The status that every answer must have. */
  status: number;
  /** Makes the requests of a turn: one that is repeated, or as many as this. */
  requests(server: Server, count: number): PlainRequest[] | Promise<PlainRequest[]>;
  /** As many requests as these are sent, and no more. */
  isOnce?: true;
}

export interface CaseGroup {
  title: string;
  /** Highest allowed ratio to the fewest rows. */
  maxRatio: number;
  /** Of the most rows. */
  aims?: { p99: string; stall: string };
  cases: Case[];
}

/** The members of all paths of a server. */
function membersOf({ seed }: Server): Record<string, string> {
  const { org, slug, clusterId: cluster, triggerId: trigger, deliveryId: delivery } = seed;
  const number = String(Math.ceil((seed.lastBuildNumbers[0] as number) / 2));
  return { org, slug, cluster, trigger, delivery, number, queue: seed.queueIds[0] ?? "" };
}

function bearer({ seed }: Server): Record<string, string> {
  return { Authorization: `Bearer ${seed.apiToken}` };
}

function cookie({ seed }: Server): Record<string, string> {
  return { Cookie: seed.cookie };
}

/** @param paths patterns, with queries */
function casesOf(
  headersOf: (server: Server) => Record<string, string>,
  paths: Record<string, string>,
): Case[] {
  return Object.entries(paths).map(([title, path]) => {
    const [pattern = "", query = ""] = path.split("?");
    const urlOf = (server: Server) =>
      `${server.url}${pathOf(pattern, membersOf(server))}${query && "?"}${query}`;
    return {
      title,
      status: 200,
      requests: (server) => [{ method: "GET", url: urlOf(server), headers: headersOf(server) }],
    };
  });
}

const polls =
  (progress: Progress): Case["requests"] =>
  async ({ url, seed, withServices }, count) => {
    const codes = await withServices((services) => makeCodes(services, seed, progress, count));
    return codes.map((code) => poll(deviceUrls(url).tokenUrl, code));
  };

function pauseAndResume(server: Server): PlainRequest[] {
  const members = { ...membersOf(server), queue: server.seed.queueIds[2] ?? "" };
  return [patterns.pauseDispatch, patterns.resumeDispatch].map((pattern) => {
    return { method: "POST", url: server.url + pathOf(pattern, members), headers: bearer(server) };
  });
}

/** All builds have two of the words. */
const searches = {
  "a word of all builds": "harbour",
  "the beginning of it": "har",
  "two words of all builds, and a beginning that few have": "light harbour 99",
  "two words, of which none has both": "light 999999999",
  "a number": "12",
  "7 characters of a commit": wantedCommit.slice(0, 7),
  "a branch of many builds": "main",
  "the beginning of many branches": "feature/",
  "the id of a sender's delivery": "72d3162e",
};

function searchFor(text: string): string {
  return `${patterns.searchPage}?${new URLSearchParams({ q: text })}`;
}

const delivery = pushPayload(kilobyte);

let commits = 0;

/** Events of GitHub, each of another commit. @param bodyOf of a pull request and a commit */
const events =
  (event: string, bodyOf: (number: number, index: number) => string): Case["requests"] =>
  ({ seed: { door, openRequests } }, count) =>
    Array.from({ length: count }, () => {
      const index = ++commits;
      const body = bodyOf(1 + ((index * 7919) % openRequests), index);
      return postJson(door.url, body, githubHeaders(event, door.secret, body));
    });

const pushes = events("push", (number, index) => githubPush(index, kilobyte, branchOfRequest(number)));

/** Posts of which each makes a build of the busiest pipeline. */
export const buildCases: Pick<Case, "title" | "requests">[] = [
  {
    title: "accept and build",
    requests: ({ seed }) => [postJson(seed.deliveryUrl, delivery)],
  },
  { title: "accept and build a push to the branch of a pull request", requests: pushes },
  { title: "accept and build a pull request", requests: events("pull_request", githubRequest) },
];

const { builds, pipelineBuilds, buildsPage } = patterns;

export const groups: Record<string, CaseGroup> = {
  hot: {
    title: "hot",
    maxRatio: 1.3,
    cases: [
      {
        title: "accept a webhook of 1 KB",
        status: 201,
        requests: ({ seed }) => [postJson(seed.deliveryUrl, delivery)],
      },
      { title: "accept a push of 1 KB", status: 201, isOnce: true, requests: pushes },
      {
        title: "device code",
        status: 200,
        requests: ({ url }) => [authorization(deviceUrls(url).authorizationUrl)],
      },
      { title: "poll of a pending code", status: 400, isOnce: true, requests: polls("pending") },
      { title: "exchange of an approved code", status: 200, isOnce: true, requests: polls("approved") },
      { title: "pause and resume a queue", status: 200, isOnce: true, requests: pauseAndResume },
    ],
  },
  lists: {
    title: "REST",
    maxRatio: 2,
    cases: casesOf(bearer, {
      builds,
      "builds, page 20": `${builds}?page=20`,
      "builds, state running (few)": `${builds}?state=running`,
      "builds, branch and state": `${builds}?branch=main&state=failed`,
      "builds, one commit": `${builds}?commit=${wantedCommit}`,
      "builds, not of paused queues": `${builds}?include_paused=false`,
      "builds of a pipeline, state failed": `${pipelineBuilds}?state=failed`,
      "a build": patterns.build,
      pipelines: patterns.pipelines,
      "deliveries of a trigger": patterns.deliveries,
      queues: patterns.queues,
    }),
  },
  pages: {
    title: "page",
    maxRatio: 2,
    aims: { p99: "≤ 100", stall: "≤ 20" },
    cases: [
      ...casesOf(cookie, {
        home: patterns.organizationPage,
        builds: buildsPage,
        "builds, 7 characters of a commit": `${buildsPage}?commit=${wantedCommit.slice(0, 7)}`,
        pipeline: patterns.pipelinePage,
        build: patterns.buildPage,
        trigger: patterns.triggerPage,
        delivery: patterns.deliveryPage,
        cluster: patterns.clusterPage,
        queue: patterns.queuePage,
        "audit log": patterns.auditPage,
        "connected apps": patterns.connectedApps,
        "access tokens": patterns.accessTokens,
      }),
      ...casesOf((server) => ({ ...cookie(server), "Accept-Encoding": "gzip" }), {
        "builds, compressed": buildsPage,
        "audit log, compressed": patterns.auditPage,
      }),
    ],
  },
  search: {
    title: "search",
    maxRatio: 2,
    aims: { p99: "≤ 50", stall: "≤ 20" },
    cases: casesOf(
      cookie,
      Object.fromEntries(Object.entries(searches).map(([title, text]) => [title, searchFor(text)])),
    ),
  },
  stacks: { title: "stack", maxRatio: 1.5, cases: stackCases },
};
