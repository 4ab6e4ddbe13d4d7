import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { eventually } from "../../helpers/http.ts";

export interface Received {
  method: string;
  /** Without the endpoint's `/v3`, with the query. */
  path: string;
  authorization: string;
  headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared with what is expected of them
  json: any;
}

interface Chunk {
  sequence: number;
  offset: number;
  bytes: Buffer;
}

export interface StandInSession {
  name: string;
  job: string | undefined;
  isGone: boolean;
  isPaused: boolean;
}

export interface StandInJob {
  id: string;
  env: Record<string, string>;
  state: string;
  chunks: Map<number, Chunk>;
  maxChunkBytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: compared with what is expected of it
  finished: any;
  log(): string;
  logBytes(): Buffer;
}

export interface StandInOptions {
  pingSeconds?: number;
  statusSeconds?: number;
  heartbeatSeconds?: number;
}

/** Decides an answer instead of the server. */
type Fault = (request: Received, response: ServerResponse) => boolean | Promise<boolean>;

export const registrationToken = "registration-token";
export const apiToken = "api-token";

/** A server that offers jobs to agents as the public wire says, and records the requests. */
export async function startStandIn(options: StandInOptions = {}) {
  const received: Received[] = [];
  const jobs = new Map<string, StandInJob>();
  const metaData = new Map<string, string>();
  const sessions = new Map<string, StandInSession>();
  const owners = new Map<string, string>();
  const faults: Fault[] = [];
  const queues: object[] = [];
  let action = "idle";

  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const isGzip = request.headers["content-encoding"] === "gzip";
    const call: Received = {
      method: request.method ?? "",
      path: (request.url ?? "").replace(/^\/v3\//, ""),
      authorization: request.headers.authorization ?? "",
      headers: request.headers,
      json: isGzip || body.length === 0 ? undefined : JSON.parse(String(body)),
    };
    received.push(call);
    for (const fault of faults) if (await fault(call, response)) return;
    answer(call, body, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };

  const say = (response: ServerResponse, status: number, json?: unknown) => {
    response.writeHead(status, json === undefined ? {} : { "Content-Type": "application/json" });
    response.end(json === undefined ? "" : JSON.stringify(json));
  };

  const answer = (call: Received, body: Buffer, response: ServerResponse) => {
    const token = /^Token (\S+)$/.exec(call.authorization)?.[1] ?? "";
    const [, kind, id = "", ...rest] = /^(jobs)\/([^/?]+)\/?(.*)$/.exec(call.path) ?? [];
    if (call.path === "register") {
      if (token !== registrationToken) return say(response, 401, { message: "Unknown token" });
      const name = call.json.name;
      const session = `session-${sessions.size + 1}`;
      sessions.set(session, { name, job: undefined, isGone: false, isPaused: false });
      return say(response, 200, {
        id: session,
        name,
        access_token: session,
        ping_interval: options.pingSeconds ?? 1,
        job_status_interval: options.statusSeconds ?? 1,
        heartbeat_interval: options.heartbeatSeconds ?? 60,
        meta_data: call.json.meta_data,
      });
    }
    if (call.path === "token" && token === registrationToken)
      return say(response, 200, { organization_slug: "acme", cluster_uuid: "cluster-1" });
    if (call.path.startsWith("/v2/organizations/acme/clusters/cluster-1/queues?"))
      return say(response, call.authorization === `Bearer ${apiToken}` ? 200 : 401, queues);
    const session = sessions.get(token);
    const isJobToken = kind === "jobs" && token === `job-token-${decodeURIComponent(id)}`;
    if (!session && !isJobToken) return say(response, 401, { message: "Unknown token" });
    if (kind === "jobs")
      return answerJob(call, body, response, { id: decodeURIComponent(id), rest: rest[0] ?? "", token });
    if (call.path === "ping" && session) return say(response, 200, pingOf(session));
    if (call.path === "heartbeat")
      return say(response, 200, { ...call.json, received_at: new Date().toISOString() });
    if (call.path === "pause" && session) session.isPaused = true;
    if (call.path === "disconnect" && session) session.isGone = true;
    say(response, 200);
  };

  const pingOf = (session: StandInSession) => {
    if (action !== "idle") return { action };
    if (session.isPaused) return { action: "pause" };
    session.job ??= [...jobs.values()].find(
      (job) => job.state === "scheduled" && ![...sessions.values()].some((other) => other.job === job.id),
    )?.id;
    return session.job ? { action: "run", job: { id: session.job } } : { action: "idle", job: null };
  };

  const answerJob = (
    call: Received,
    body: Buffer,
    response: ServerResponse,
    { id, rest, token }: { id: string; rest: string; token: string },
  ) => {
    const job = jobs.get(id);
    if (!job) return say(response, 404, { message: "No such job" });
    const session = sessions.get(owners.get(id) ?? token);
    const name = rest.replace(/\?.*/, "");
    switch (name) {
      case "accept":
        owners.set(id, token);
        job.state = "assigned";
        return say(response, 200, {
          id,
          env: job.env,
          chunks_max_size_bytes: job.maxChunkBytes,
          chunks_interval_seconds: 1,
          token: `job-token-${id}`,
          step: null,
        });
      case "start":
        job.state = "running";
        return say(response, 200);
      case "":
        return say(response, 200, { state: job.state });
      case "chunks": {
        const query = new URLSearchParams(rest.slice("chunks?".length));
        const bytes = gunzipSync(body);
        const [sequence, offset, size] = ["sequence", "offset", "size"].map((key) => Number(query.get(key)));
        if (bytes.length !== size || bytes.length > job.maxChunkBytes || offset === undefined || !sequence)
          return say(response, 422, { message: "Wrong size" });
        job.chunks.set(sequence, { sequence, offset, bytes });
        return say(response, 201);
      }
      case "finish":
        job.state = "finished";
        job.finished = call.json;
        if (session) session.job = undefined;
        return say(response, 200);
      case "data/set":
        metaData.set(call.json.key, call.json.value);
        return say(response, 200);
      case "data/get": {
        const value = metaData.get(call.json.key);
        if (value === undefined) return say(response, 404, { message: "No such key" });
        return say(response, 200, { key: call.json.key, value });
      }
      case "data/exists":
        return say(response, 200, { exists: metaData.has(call.json.key) });
      case "data/keys":
        return say(response, 200, [...metaData.keys()].sort());
      case "pipelines":
        return say(response, 200, {});
      default:
        return say(response, 404, { message: "Not implemented" });
    }
  };

  return {
    endpoint: `http://127.0.0.1:${port}/v3`,
    received,
    sessions,
    metaData,
    /** The queues of the cluster, as REST answers them. */
    queues,
    faults,

    /** Offers a job that runs the command without a repository. */
    offer(
      command: string,
      { env = {}, maxChunkBytes = 102_400 }: { env?: Record<string, string>; maxChunkBytes?: number } = {},
    ): StandInJob {
      const id = `00000000-0000-4000-8000-${String(jobs.size + 1).padStart(12, "0")}`;
      const inOrder = () => [...job.chunks.values()].sort((a, b) => a.sequence - b.sequence);
      const job: StandInJob = {
        id,
        env: {
          BUILDKITE_JOB_ID: id,
          BUILDKITE_COMMAND: command,
          BUILDKITE_REPO: "none",
          BUILDKITE_SKIP_CHECKOUT: "true",
          BUILDKITE_COMMIT: "HEAD",
          BUILDKITE_BRANCH: "main",
          SIGNALBOX_JOB_ID: id,
          ...env,
        },
        state: "scheduled",
        chunks: new Map(),
        maxChunkBytes,
        finished: undefined,
        log: () => String(job.logBytes()),
        logBytes: () => Buffer.concat(inOrder().map(({ bytes }) => bytes)),
      };
      jobs.set(id, job);
      return job;
    },
    setAction(value: string) {
      action = value;
    },
    /** Answers requests whose method and path match with the status, so many times. */
    fail(pattern: RegExp, status: number, times = Number.POSITIVE_INFINITY) {
      let left = times;
      faults.push(({ method, path }, response) => {
        if (!pattern.test(`${method} ${path}`) || left <= 0) return false;
        left -= 1;
        say(response, status, { message: "as the test wants" });
        return true;
      });
    },
    calls: (pattern: RegExp) => received.filter(({ method, path }) => pattern.test(`${method} ${path}`)),
    finished: (job: StandInJob) => eventually(`the end of job ${job.id}`, async () => job.finished),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export type StandIn = Awaited<ReturnType<typeof startStandIn>>;
