import { defineHandler, type H3, HTTPResponse } from "h3";
import { patterns } from "../../shared/paths.ts";
import { Refusal } from "../../shared/refusal.ts";
import { jsonType } from "../http/respond.ts";
import type { Method, Route } from "../http/routing.ts";

const anyMethod: Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const organization = "/v2/organizations/:org";
const cluster = `${organization}/clusters/:cluster`;
const team = `${organization}/teams/:team`;

/** Parts of the hosted service's API that this server does not have: by name, their paths. */
const missing: Record<string, string[]> = {
  "agent images": [`${cluster}/agent-images`, `${cluster}/agent-images/:image`],
  "cache volumes": [`${cluster}/cache_volumes`],
  "cluster maintainers": [`${cluster}/maintainers`, `${cluster}/maintainers/:maintainer`],
  "invitations in its API": [`${organization}/invitations`, `${organization}/invitations/:invitation`],
  "network ranges": [`${cluster}/network_ranges`],
  "package registries": ["/v2/packages/organizations/:org/**"],
  "such pipeline settings of an organization": [`${organization}/pipeline-settings/:setting`],
  "pipeline templates": [
    `${organization}/pipeline-templates`,
    `${organization}/pipeline-templates/:template`,
  ],
  portals: [`${organization}/portals`, `${organization}/portals/:portal`],
  "repositories of a connection": [`${organization}/repository_connections/:connection/repositories`],
  rules: [`${organization}/rules`, `${organization}/rules/:rule`],
  "sessions inside jobs": [`${organization}/jobs/:job/ssh-session`, `${organization}/jobs/:job/vnc-session`],
  teams: [
    `${organization}/teams`,
    team,
    `${team}/members`,
    `${team}/members/:member`,
    `${team}/pipelines`,
    `${team}/pipelines/:slug`,
    `${team}/suites`,
    `${team}/suites/:suite`,
  ],
  "test suites": ["/v2/analytics/organizations/:org/**"],
};

/** Operations on resources that this server has. */
const missingChanges: [name: string, methods: Method[], paths: string[]][] = [
  ["changes of members in its API", ["PATCH", "DELETE"], [patterns.member]],
  [
    "such pipeline settings of an organization",
    ["PUT"],
    [patterns.hostedAgentsSsh, patterns.publicPipelines, patterns.buildExport],
  ],
];

/** They answer with the sentence, so that nobody searches for a mistake of their own. */
export const missingOperations: Route[] = [
  ...Object.entries(missing).map(([name, paths]) => [name, anyMethod, paths] as const),
  ...missingChanges,
].flatMap(([name, methods, paths]) =>
  paths.map((path) => missingRoute(path, `This server has no ${name}`, methods)),
);

/** A route that answers 404 with a sentence. */
export function missingRoute(path: string, message: string, methods = anyMethod): Route {
  const refuse = defineHandler(() => {
    throw new Refusal(404, message);
  });
  return [path, Object.fromEntries(methods.map((method) => [method, refuse]))];
}

/** The addresses of the hosted service's GraphQL, whose clients read errors in its form. */
export function refuseGraphql(app: H3): void {
  const body = JSON.stringify({ errors: [{ message: "This server has no GraphQL." }] });
  const refuse = defineHandler(
    () => new HTTPResponse(body, { status: 404, headers: { "content-type": jsonType } }),
  );
  for (const path of ["/graphql", "/v1", "/v1/**"]) app.all(path, refuse);
}
