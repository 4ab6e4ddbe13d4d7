import { z } from "zod";
import { maxNoteLength } from "../../../shared/validation.ts";
import { type Call, type Client, read, segment, send } from "./client.ts";

/** The requests of the agent API (ingress/agent/README.md). Each throws CallFailed. */

const absent = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const seconds = z.number().int().min(1);

const registration = z.object({
  id: z.string(),
  name: z.string(),
  access_token: z.string().min(1),
  endpoint: absent(z.string()),
  ping_interval: seconds,
  job_status_interval: seconds,
  heartbeat_interval: seconds,
  meta_data: absent(z.array(z.string())),
});
export type Registration = z.infer<typeof registration>;

const pingAnswer = z.object({
  action: absent(z.string()),
  message: absent(z.string()),
  endpoint: absent(z.string()),
  job: absent(z.object({ id: z.string() })),
});
export type PingAnswer = z.infer<typeof pingAnswer>;

const acceptedJob = z.object({
  id: z.string(),
  env: z.record(z.string(), z.string()),
  chunks_max_size_bytes: z.number().int().min(1),
  chunks_interval_seconds: absent(z.number().int().min(1)),
  token: absent(z.string()),
});
export type AcceptedJob = z.infer<typeof acceptedJob>;

const jobState = z.object({ state: absent(z.string()) });
const metaDataItem = z.object({ value: z.string() });
const uploadState = z.object({ state: absent(z.string()), message: absent(z.string()) });
const existence = z.object({ exists: z.boolean() });
const anything = z.unknown();
const uploadInstructions = z.object({
  data: z.record(z.string(), z.string()),
  action: z.object({ url: z.string(), method: z.string(), path: z.string(), file_input: z.string() }),
});
export type UploadInstructions = z.infer<typeof uploadInstructions>;
const announced = z.object({
  artifact_ids: z.array(z.string()),
  upload_instructions: uploadInstructions,
});
const foundArtifact = z.object({
  job_id: z.string(),
  path: z.string(),
  file_size: z.number(),
  sha1sum: z.string(),
  sha256sum: z.string(),
  created_at: z.string(),
  url: z.string(),
});
export type FoundArtifact = z.infer<typeof foundArtifact>;

export interface Finish {
  exit_status: string;
  signal?: string;
  signal_reason?: string;
  finished_at: string;
  chunks_failed_count: number;
  ignore_agent_in_dispatches?: true;
}

export interface Upload {
  uuid: string;
  pipeline: object;
  replace?: true;
}

/** A piece of log; sizes are those before compression. */
export interface Chunk {
  sequence: number;
  offset: number;
  size: number;
  gzip: Uint8Array<ArrayBuffer>;
}

export const register = (client: Client, json: object, signal: AbortSignal) =>
  read(client, { method: "POST", path: "register", json, signal }, registration);

export const connect = (client: Client, signal: AbortSignal) =>
  send(client, { method: "POST", path: "connect", signal });

export const ping = (client: Client, signal: AbortSignal) =>
  read(client, { method: "GET", path: "ping", signal }, pingAnswer);

export const heartbeat = (client: Client, sentAt: string, signal: AbortSignal) =>
  read(client, { method: "POST", path: "heartbeat", json: { sent_at: sentAt }, signal }, anything);

export const disconnect = (client: Client) => send(client, { method: "POST", path: "disconnect" });

/** The session takes no jobs; people see the note. */
export const pauseAgent = (client: Client, note: string) =>
  send(client, { method: "POST", path: "pause", json: { note: note.slice(0, maxNoteLength) } });

const identity = z.object({
  organization_slug: z.string(),
  cluster_uuid: z.string(),
  cluster_name: absent(z.string()),
});

/** Says whose the registration token is. */
export const readIdentity = (client: Client, signal?: AbortSignal) =>
  read(client, { method: "GET", path: "token", signal }, identity);

export const accept = (client: Client, jobId: string) =>
  read(client, toJob("PUT", jobId, "accept"), acceptedJob);

export const acquire = (client: Client, jobId: string) =>
  read(client, toJob("PUT", jobId, "acquire"), acceptedJob);

export const start = (client: Client, jobId: string, startedAt: string) =>
  send(client, { ...toJob("PUT", jobId, "start"), json: { started_at: startedAt } });

export const readState = async (client: Client, jobId: string, signal: AbortSignal) =>
  (await read(client, { method: "GET", path: `jobs/${segment(jobId)}`, signal }, jobState)).state;

export const sendChunk = (client: Client, jobId: string, { sequence, offset, size, gzip }: Chunk) =>
  send(client, {
    ...toJob("POST", jobId, `chunks?sequence=${sequence}&offset=${offset}&size=${size}`),
    gzip,
  });

export const finish = (client: Client, jobId: string, json: Finish) =>
  send(client, { ...toJob("PUT", jobId, "finish"), json });

export const hasMetaData = async (client: Client, jobId: string, key: string) =>
  (await read(client, { ...toJob("POST", jobId, "data/exists"), json: { key } }, existence)).exists;

export const setMetaData = (client: Client, jobId: string, item: { key: string; value: string }) =>
  send(client, { ...toJob("POST", jobId, "data/set"), json: item });

export const getMetaData = async (client: Client, jobId: string, key: string) =>
  (await read(client, { ...toJob("POST", jobId, "data/get"), json: { key } }, metaDataItem)).value;

export const listMetaData = (client: Client, jobId: string) =>
  read(client, toJob("POST", jobId, "data/keys"), z.array(z.string()));

/** @returns false if the server adds the steps later */
export const uploadPipeline = async (client: Client, jobId: string, json: Upload) =>
  (await send(client, { ...toJob("POST", jobId, "pipelines?async=true"), json })).status !== 202;

export const readUpload = (client: Client, jobId: string, uuid: string) =>
  read(client, toJob("GET", jobId, `pipelines/${segment(uuid)}`), uploadState);

export const announceArtifacts = (client: Client, jobId: string, batch: object) =>
  read(client, { ...toJob("POST", jobId, "artifacts"), json: batch }, announced);

export const reportArtifacts = (client: Client, jobId: string, artifacts: object[]) =>
  send(client, { ...toJob("PUT", jobId, "artifacts"), json: { artifacts } });

export const searchArtifacts = (
  client: Client,
  buildId: string,
  options: { query: string; scope: string | undefined; includesRetriedJobs: boolean },
) => {
  const query = new URLSearchParams({
    query: options.query,
    state: "finished",
    ...(options.scope !== undefined && { scope: options.scope }),
    ...(options.includesRetriedJobs && { include_retried_jobs: "true" }),
  });
  const path = `builds/${segment(buildId)}/artifacts/search?${query}`;
  return read(client, { method: "GET", path }, z.array(foundArtifact));
};

export const annotate = (client: Client, jobId: string, annotation: object) =>
  send(client, { ...toJob("POST", jobId, "annotations"), json: annotation });

export const removeAnnotation = (
  client: Client,
  jobId: string,
  { context, scope }: { context: string; scope: string },
) =>
  send(client, toJob("DELETE", jobId, `annotations/${segment(context)}?${new URLSearchParams({ scope })}`));

const secretValue = z.object({ value: z.string() });
export const getSecret = async (client: Client, jobId: string, key: string) =>
  (await read(client, toJob("GET", jobId, `secrets?${new URLSearchParams({ key })}`), secretValue)).value;

const identityToken = z.object({ token: z.string() });
export const requestIdentityToken = async (client: Client, jobId: string, wanted: object) =>
  (await read(client, { ...toJob("POST", jobId, "oidc/tokens"), json: wanted }, identityToken)).token;

const stepOutput = z.object({ output: z.string() });
export const getStep = async (client: Client, step: string, json: object) =>
  (await read(client, { method: "POST", path: `steps/${segment(step)}/export`, json }, stepOutput)).output;

export const updateStep = (client: Client, step: string, json: object) =>
  send(client, { method: "PUT", path: `steps/${segment(step)}`, json });

const canceledStep = z.object({ uuid: z.string() });
export const cancelStep = async (client: Client, step: string, json: object) =>
  (await read(client, { method: "POST", path: `steps/${segment(step)}/cancel`, json }, canceledStep)).uuid;

function toJob(method: Call["method"], jobId: string, rest: string): Call {
  return { method, path: `jobs/${segment(jobId)}/${rest}` };
}
