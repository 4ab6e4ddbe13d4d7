import { z } from "zod";
import { type Pattern, patterns } from "../../shared/paths.ts";
import { finishBody } from "../agent/finish.ts";
import { startBody } from "../agent/jobs.ts";
import { heartbeatBody, pauseBody, registerBody, stopBody } from "../agent/session.ts";
import * as field from "../api/json/fields.ts";
import type { Method } from "../api/operation.ts";
import type { HeaderName } from "./answers.ts";
import { type Answer, type Declaration, jsonType, type SecurityScheme } from "./declaration.ts";

export function refusal(description: string, headers: HeaderName[] = []): Answer {
  return { description, schema: field.problem, headers };
}

const nothing = z.object({});
const text = z.string();
const tags = z.array(text);
const seconds = z.int().min(1).meta({ description: "Seconds" });
const session: SecurityScheme[] = ["sessionToken"];
const sessionOrJob: SecurityScheme[] = ["sessionToken", "jobToken"];

const registered = z.object({
  id: field.id,
  name: text,
  access_token: text.meta({ description: "The session token, for the agent's further calls" }),
  ping_interval: seconds,
  job_status_interval: seconds,
  heartbeat_interval: seconds,
  meta_data: tags,
});

const pingAnswer = z.object({
  action: z.enum(["run", "idle", "pause", "disconnect"]),
  job: z.object({ id: field.id }).nullish(),
  message: text.optional(),
});

const heartbeat = z.object({ sent_at: text.nullable(), received_at: field.timestamp });

const identity = z.object({
  uuid: field.id,
  description: text,
  token_type: z.literal("cluster"),
  organization_slug: text,
  organization_uuid: field.id,
  cluster_uuid: field.id,
  cluster_name: text,
  organization_queue_uuid: field.id.nullable(),
  organization_queue_key: text.nullable(),
});

const acceptedJob = z.object({
  id: field.id,
  state: text,
  env: z.record(z.string(), z.string()),
  chunks_max_size_bytes: z.int(),
  chunks_interval_seconds: z.int(),
  log_max_size_bytes: z.int(),
  token: text.meta({ description: "The job token of this attempt" }),
  runnable_at: field.timestamp.nullable(),
});

interface Call {
  method: Method;
  path: Pattern;
  id: string;
  summary: string;
  description?: string;
  security: SecurityScheme[];
  query?: Record<string, z.ZodType>;
  headers?: Record<string, z.ZodType>;
  body?: Declaration["body"];
  success: z.ZodType;
  refusals?: Record<string, Answer>;
}

const json = (schema: z.ZodType): Declaration["body"] => ({ schema, mediaType: jsonType });
const optionalJson = (schema: z.ZodType): Declaration["body"] => ({
  schema,
  mediaType: jsonType,
  isOptional: true,
});
const later = ["Retry-After"] satisfies HeaderName[];

const sessionCalls: Call[] = [
  {
    ...{ method: "POST", path: patterns.agentRegister, id: "registerAgent", security: ["agentToken"] },
    summary: "Register an agent",
    description:
      "The tag `queue=<key>` names its queue. Default: the token's queue, else the cluster's default.",
    body: json(registerBody),
    success: registered,
    refusals: { "429": refusal("Too many agents registered: wait as Retry-After says", later) },
  },
  {
    ...{ method: "GET", path: patterns.agentIdentity, id: "getAgentTokenIdentity", security: ["agentToken"] },
    summary: "Get the identity of a registration token",
    success: identity,
  },
  {
    ...{ method: "POST", path: patterns.agentConnect, id: "connectAgent", security: session },
    summary: "Connect an agent",
    success: nothing,
  },
  {
    ...{ method: "GET", path: patterns.agentPing, id: "pingAgent", security: session },
    summary: "Ask for a job",
    description: "A job is offered at every ping until the agent accepts it.",
    success: pingAnswer,
  },
  {
    ...{ method: "POST", path: patterns.agentHeartbeat, id: "heartbeatAgent", security: session },
    summary: "Send a heartbeat",
    body: optionalJson(heartbeatBody),
    success: heartbeat,
  },
  {
    ...{ method: "POST", path: patterns.agentDisconnect, id: "disconnectAgent", security: session },
    summary: "End a session",
    success: nothing,
  },
  {
    ...{ method: "POST", path: patterns.agentStop, id: "stopOwnAgent", security: sessionOrJob },
    summary: "Stop the agent after its job",
    description: "`force` cancels the job too.",
    body: optionalJson(stopBody),
    success: nothing,
    refusals: { "422": refusal("A member is wrong, or the agent has disconnected") },
  },
  {
    ...{ method: "POST", path: patterns.agentPause, id: "pauseOwnAgent", security: sessionOrJob },
    summary: "Pause the agent",
    body: optionalJson(pauseBody),
    success: nothing,
    refusals: { "422": refusal("A member is wrong, or the agent is paused") },
  },
  {
    ...{ method: "POST", path: patterns.agentResume, id: "resumeOwnAgent", security: sessionOrJob },
    summary: "Resume the agent",
    success: nothing,
    refusals: { "422": refusal("The agent is not paused") },
  },
];

const jobCalls: Call[] = [
  {
    ...{ method: "PUT", path: patterns.acceptJob, id: "acceptJob", security: session },
    summary: "Accept the job that a ping offered",
    success: acceptedJob,
    refusals: { "422": refusal("The job cannot be accepted any more") },
  },
  {
    ...{ method: "PUT", path: patterns.acquireJob, id: "acquireJob", security: session },
    summary: "Take a job by its id",
    success: acceptedJob,
    refusals: {
      "422": refusal("The job was taken or has finished, or the agent may take none"),
      "423": refusal("The job waits for others, or its queue is paused: try again"),
    },
  },
  {
    ...{ method: "PUT", path: patterns.startJob, id: "startJob", security: sessionOrJob },
    summary: "Start an accepted job",
    body: optionalJson(startBody),
    success: nothing,
  },
  {
    ...{ method: "GET", path: patterns.jobState, id: "getJobState", security: sessionOrJob },
    summary: "Get the state of a job",
    description: "An attempt that is over reads `canceled`, so that its agent ends the command.",
    success: z.object({ id: field.id, state: text }),
  },
  {
    ...{ method: "POST", path: patterns.jobChunks, id: "sendJobLog", security: sessionOrJob },
    summary: "Send a piece of a job's log",
    description:
      "Pieces may come in any order and more than once. They have at most 102,400 bytes, which may be compressed.",
    query: {
      sequence: z.int().min(0).meta({ description: "Number of the piece, from 1" }),
      offset: z.int().min(0).meta({ description: "Byte of the uncompressed log at which it begins" }),
      size: z.int().min(0).optional().meta({ description: "Its uncompressed bytes" }),
    },
    headers: { "Content-Encoding": z.enum(["gzip", "identity"]).meta({ description: "Default: identity" }) },
    body: { schema: text, mediaType: "text/plain", isOptional: true },
    success: nothing,
    refusals: {
      "400": refusal("A number is missing or wrong, or the body is not gzip"),
      "413": refusal("The piece is too large"),
      "415": refusal("Another encoding than gzip or identity"),
      "422": refusal("The piece cannot be kept"),
    },
  },
  {
    ...{ method: "POST", path: patterns.jobHeaderTimes, id: "sendHeaderTimes", security: sessionOrJob },
    summary: "Send the times of a log's headers, which are not kept",
    success: nothing,
  },
  {
    ...{ method: "PUT", path: patterns.finishJob, id: "finishJob", security: sessionOrJob },
    summary: "Finish a job by the exit status of its command",
    description:
      "-1: the command never ran, or a signal ended it. A repeated call is answered as the first. " +
      "Never 404: old agents stop at 422 alone.",
    body: json(finishBody),
    success: nothing,
    refusals: {
      "422": refusal("A member is missing or wrong; or the agent does not have this job, or no longer"),
    },
  },
];

const unread = text.optional().meta({ description: "Makes no difference" });
const buildCalls: Call[] = [
  {
    ...{ method: "GET", path: patterns.searchArtifacts, id: "searchArtifacts", security: sessionOrJob },
    summary: "Search the artifacts of a build, of which there are none",
    query: { query: unread, scope: unread, state: unread },
    success: z.array(nothing).max(0),
  },
];

/** Describes the calls of agents, without those for uploads and meta-data. */
export const agentCalls: Declaration[] = [...sessionCalls, ...jobCalls, ...buildCalls].map(declareCall);

function declareCall({ method, success, refusals, ...call }: Call): Declaration {
  const isOfJob = call.path.includes("/jobs/");
  return {
    ...call,
    methods: [method],
    tag: "Agent API",
    server: "baseUrl",
    ...(isOfJob && { pathParameters: { id: "Id of the job" } }),
    ...(call.path.includes("/builds/") && { pathParameters: { id: "Id of a build" } }),
    answers: {
      "200": { description: "Done", schema: success, headers: [] },
      ...(call.body?.mediaType === jsonType && {
        "400": refusal("The body is not valid JSON, or not an object"),
        "413": refusal("The body is larger than 1 MB"),
        "415": refusal("The body is not JSON in UTF-8"),
        "422": refusal("A member is missing or wrong"),
      }),
      "401": refusal("No valid token of these kinds, or the session has ended", ["WWW-Authenticate"]),
      ...(isOfJob &&
        call.path !== patterns.finishJob && {
          "404": refusal("Not a job of the caller, or an attempt that is over"),
        }),
      "503": refusal("Temporarily unavailable: wait as Retry-After says", later),
      ...refusals,
    },
  };
}
