import { defineHandler, type EventHandler } from "h3";
import type { HandOut } from "../../shared/agents/hand-out.ts";
import type { LeaseGroup } from "../../shared/agents/lease-group.ts";
import type { Presence } from "../../shared/agents/presence.ts";
import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal } from "../../shared/refusal.ts";
import { requireAgentOrJob } from "../auth/agent.ts";
import { openAttempts } from "../auth/attempts.ts";
import type { Bodies } from "../http/body.ts";
import type { Route } from "../http/routing.ts";
import { jobHandlers } from "./jobs.ts";
import { logHandlers } from "./logs.ts";
import { metaDataHandlers } from "./meta-data.ts";
import { PayloadReads } from "./payload-reads.ts";
import { pipelineHandlers } from "./pipelines.ts";
import { sessionHandlers } from "./session.ts";

/** The opener closes these parts. */
export interface AgentParts {
  handOut: HandOut;
  leases: LeaseGroup;
  presence: Presence;
}

/** The routes that agents and their jobs call. */
export function agentRoutes(
  services: Services,
  bodies: Bodies,
  { handOut, leases, presence }: AgentParts,
): Route[] {
  const session = sessionHandlers(services, { bodies, handOut, presence });
  const attempts = openAttempts(services);
  const jobs = jobHandlers(services, { bodies, leases, attempts });
  const logs = logHandlers(services, { bodies, attempts });
  const data = { bodies, leases, payloadReads: new PayloadReads(services) };
  const pipelines = pipelineHandlers(services, bodies);
  return [
    [patterns.agentRegister, { POST: session.register }],
    [patterns.agentConnect, { POST: session.connect }],
    [patterns.agentPing, { GET: session.ping }],
    [patterns.agentHeartbeat, { POST: session.heartbeat }],
    [patterns.agentDisconnect, { POST: session.disconnect }],
    [patterns.agentStop, { POST: session.stop }],
    [patterns.agentPause, { POST: session.pause }],
    [patterns.agentResume, { POST: session.resume }],
    [patterns.agentIdentity, { GET: session.token }],
    [patterns.agentStream, { POST: refuse("Agents ping here: there is no stream") }],
    [patterns.jobState, { GET: jobs.get, PUT: refuse("This server has no job updates") }],
    [patterns.acceptJob, { PUT: jobs.accept }],
    [patterns.acquireJob, { PUT: jobs.acquire }],
    [patterns.startJob, { PUT: jobs.start }],
    [patterns.finishJob, { PUT: jobs.finish }],
    [patterns.jobChunks, { POST: logs.chunks }],
    [patterns.jobHeaderTimes, { POST: logs.headerTimes }],
    ...metaDataRoutes(patterns.jobData, metaDataHandlers(services, { ...data, owner: "job" })),
    ...metaDataRoutes(patterns.buildData, metaDataHandlers(services, { ...data, owner: "build" })),
    [patterns.uploadPipeline, { POST: pipelines.upload }],
    [patterns.pipelineUpload, { GET: pipelines.state }],
    [patterns.searchArtifacts, { GET: searchArtifacts(services) }],
    ...missingRoutes(),
  ];
}

/** POST `…/data/get` and so on. */
function metaDataRoutes(base: string, handlers: Record<string, EventHandler>): Route[] {
  return Object.entries(handlers).map(([verb, handler]) => [`${base}/${verb}`, { POST: handler }]);
}

/**
 * GET /v3/builds/:id/artifacts/search. There are no artifacts of any build. Agents would repeat a refusal for 45
 * seconds.
 */
function searchArtifacts(services: Services): EventHandler {
  return defineHandler(async (event) => {
    await requireAgentOrJob(services, event);
    return [];
  });
}

/** Parts of the agent API that this server does not have. Agents stop asking after a 404. */
function missingRoutes(): Route[] {
  return Object.entries({
    artifacts: ["/v3/jobs/:id/artifacts", "/v3/builds/:id/artifacts/**"],
    annotations: ["/v3/jobs/:id/annotations", "/v3/jobs/:id/annotations/**"],
    "step attributes": ["/v3/steps/**"],
    secrets: ["/v3/jobs/:id/secrets"],
    "OIDC tokens": ["/v3/jobs/:id/oidc/tokens"],
    "repository tokens": ["/v3/jobs/:id/repository_access_token"],
    "promises of failures": ["/v3/jobs/:id/promise_failure"],
    "cancels of builds by jobs": ["/v3/builds/:id/cancel"],
  }).flatMap(([name, paths]) => {
    const handler = refuse(`This server has no ${name}`);
    const handlers = { GET: handler, POST: handler, PUT: handler, PATCH: handler, DELETE: handler };
    return paths.map((path): Route => [path, handlers]);
  });
}

function refuse(message: string): EventHandler {
  return defineHandler(() => {
    throw new Refusal(404, message);
  });
}
