import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { gzipSync } from "node:zlib";

/** The differences of a version of the public agent on the wire. */
export interface Version {
  version: string;
  /** Before version 3.40, agents use the token of their session for jobs. */
  hasJobToken: boolean;
  /** It tries a stream of pings first. */
  streams: boolean;
  /** Artifacts come with their SHA-256 and type. Searches name the state that they ask for. */
  sendsArtifactTypes: boolean;
  /** It sends the times of the log's headers. Others write times into the log. */
  sendsHeaderTimes: boolean;
}

export const versions: Version[] = [
  {
    version: "3.20.0",
    hasJobToken: false,
    streams: false,
    sendsArtifactTypes: false,
    sendsHeaderTimes: true,
  },
  { version: "3.137.0", hasJobToken: true, streams: true, sendsArtifactTypes: true, sendsHeaderTimes: false },
  {
    version: "4.0.0-beta.1",
    hasJobToken: true,
    streams: true,
    sendsArtifactTypes: true,
    sendsHeaderTimes: false,
  },
];

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared with what is expected of them
  body: any;
}

interface Call {
  json?: unknown;
  bytes?: Buffer;
  headers?: Record<string, string>;
  /** Default: the session's. */
  token?: string;
  /** Sent without a length, as an HTTP/2 proxy passes on what has no body. */
  isChunked?: boolean;
}

export interface ArtifactFile {
  path: string;
  bytes: Buffer;
}

export interface UploadForm {
  data: Record<string, string>;
  action: { url: string; method: string; path: string; file_input: string };
}

interface PartAction {
  url: string;
  method: string;
  part_number: number;
}

/** Of artifacts. */
const batchSize = 30;

export interface AcceptedJob {
  id: string;
  env: Record<string, string>;
  token: string;
  chunks_max_size_bytes: number;
}

/** Sends the requests of a version of the public agent, with its headers. Every call that it retries is sent twice. */
export class PublicAgent {
  readonly #url: string;
  readonly #connections = new Agent({ keepAlive: true });
  readonly #version: Version;
  #session = "";

  constructor(url: string, version: Version) {
    this.#url = url;
    this.#version = version;
  }

  close(): void {
    this.#connections.destroy();
  }

  send(method: string, path: string, call: Call = {}): Promise<Reply> {
    return this.#exchange(method, `/v3${path}`, call);
  }

  /** Repeats a call, as after a lost answer. Returns the second answer. */
  async repeat(method: string, path: string, call: Call = {}): Promise<Reply> {
    const first = await this.send(method, path, call);
    assert.ok(first.status < 300, `${method} ${path}: ${first.status} ${first.text}`);
    const second = await this.send(method, path, call);
    assert.equal(second.status, first.status, `${method} ${path} again: ${second.text}`);
    return second;
  }

  async start(registrationToken: string, queue: string, more: object = {}): Promise<void> {
    const { version, hasJobToken } = this.#version;
    const registered = await this.repeat("POST", "/register", {
      token: registrationToken,
      json: {
        name: "",
        hostname: "build-1",
        os: 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n',
        arch: "amd64",
        script_eval_enabled: true,
        ignore_in_dispatches: false,
        version,
        build: "1",
        meta_data: [`queue=${queue}`, "os=linux"],
        pid: 4711,
        ...(hasJobToken ? { machine_id: "0b5c", features: ["ansi-timestamps"] } : {}),
        ...more,
      },
    });
    const { access_token, ping_interval, job_status_interval, heartbeat_interval } = registered.body;
    for (const interval of [ping_interval, job_status_interval, heartbeat_interval])
      assert.ok(Number.isInteger(interval) && interval >= 1, "Go's NewTicker panics on less");
    this.#session = access_token;
    assert.equal((await this.repeat("POST", "/connect")).status, 200);
    if (this.#version.streams) await this.#fallBackToPolling();
    const sentAt = "2026-11-21T16:12:15.900539223Z";
    const { body } = await this.repeat("POST", "/heartbeat", { json: { sent_at: sentAt } });
    assert.equal(body.sent_at, sentAt);
  }

  async #fallBackToPolling(): Promise<void> {
    const path = "/agentedge.v1.AgentEdgeService/StreamPings";
    const headers = { "Content-Type": "application/grpc", TE: "trailers" };
    const frame = Buffer.from([0, 0, 0, 0, 3, 10, 1, 97]);
    const { status } = await this.#exchange("POST", path, { headers, bytes: frame });
    assert.equal(status, 404, "anything else is tried again and again");
  }

  async ping(): Promise<{ action?: string; job?: { id: string } | null }> {
    const { status, body, text } = await this.send("GET", "/ping");
    assert.equal(status, 200, text);
    return body;
  }

  async accept(jobId: string): Promise<AcceptedJob> {
    const { body } = await this.repeat("PUT", `/jobs/${jobId}/accept`, { isChunked: true });
    return this.#withToken(body);
  }

  /** Asks for a job by its id, which only newer versions can. */
  acquire(jobId: string, sequence = 0): Promise<Reply> {
    const headers = {
      "X-Buildkite-Lock-Acquire-Job": "1",
      "X-Buildkite-Backoff-Sequence": String(sequence),
    };
    return this.send("PUT", `/jobs/${jobId}/acquire`, { headers });
  }

  #withToken(job: AcceptedJob): AcceptedJob {
    return this.#version.hasJobToken ? job : { ...job, token: this.#session };
  }

  async run(job: AcceptedJob): Promise<void> {
    const started = { started_at: "2026-11-21T16:12:15.900539223Z" };
    await this.repeat("PUT", `/jobs/${job.id}/start`, { json: started, token: job.token });
    const { body } = await this.send("GET", `/jobs/${job.id}`, { token: job.token });
    assert.equal(body.state, "running");
  }

  /** Sends a log in pieces that are out of order and repeated, and may cut characters in two. */
  async log({ id, token }: AcceptedJob, log: Buffer, pieceBytes: number): Promise<void> {
    const pieces = Array.from({ length: Math.ceil(log.length / pieceBytes) }, (_, index) => ({
      sequence: index + 1,
      offset: index * pieceBytes,
      bytes: log.subarray(index * pieceBytes, (index + 1) * pieceBytes),
    }));
    await Promise.all(
      pieces.toReversed().map(({ sequence, offset, bytes }) =>
        this.repeat("POST", `/jobs/${id}/chunks?sequence=${sequence}&offset=${offset}&size=${bytes.length}`, {
          headers: { "Content-Type": "text/plain", "Content-Encoding": "gzip" },
          bytes: gzipSync(bytes),
          token,
        }),
      ),
    );
    if (!this.#version.sendsHeaderTimes) return;
    const times = { header_times: { 0: "2026-11-21T16:12:15.900539223Z" } };
    await this.repeat("POST", `/jobs/${id}/header_times`, { json: times, token });
  }

  async data({ id, token }: AcceptedJob, verb: string, json?: object): Promise<Reply> {
    return this.repeat("POST", `/jobs/${id}/data/${verb}`, { ...(json ? { json } : {}), token });
  }

  async upload({ id, token }: AcceptedJob, steps: object[]): Promise<void> {
    const { hasJobToken } = this.#version;
    const uuid = randomUUID();
    const path = `/jobs/${id}/pipelines`;
    await this.repeat("POST", hasJobToken ? `${path}?async=true` : path, {
      json: { uuid, pipeline: { steps } },
      headers: hasJobToken ? { "X-Buildkite-Backoff-Sequence": "0" } : {},
      token,
    });
    const { body } = await this.send("GET", `${path}/${uuid}`, { token });
    assert.equal(body.state, "applied");
  }

  /** Uploads files as artifacts, in batches. Returns their ids. */
  async uploadArtifacts(job: AcceptedJob, files: ArtifactFile[]): Promise<string[]> {
    const ids: string[] = [];
    for (let at = 0; at < files.length; at += batchSize) {
      const batch = files.slice(at, at + batchSize);
      const announced = await this.announceArtifacts(job, batch);
      const { artifact_ids, upload_instructions: form, per_artifact_instructions: own = {} } = announced.body;
      const states: object[] = [];
      for (const [index, file] of batch.entries()) {
        const id = artifact_ids[index];
        if (own[id]) states.push({ id, state: "finished", ...(await this.sendParts(own[id].actions, file)) });
        else {
          const sent = await this.sendArtifact(form, file);
          assert.equal(sent.status, 200, `${file.path}: ${sent.text}`);
          states.push({ id, state: "finished" });
        }
      }
      await this.repeat("PUT", `/jobs/${job.id}/artifacts`, {
        json: { artifacts: states },
        token: job.token,
      });
      ids.push(...artifact_ids);
    }
    return ids;
  }

  announceArtifacts({ id, token }: AcceptedJob, files: ArtifactFile[], more: object = {}): Promise<Reply> {
    const { sendsArtifactTypes } = this.#version;
    const artifacts = files.map(({ path, bytes }) => ({
      path,
      absolute_path: `/builds/${path}`,
      glob_path: "**/*",
      file_size: bytes.length,
      sha1sum: hash("sha1", bytes),
      ...(sendsArtifactTypes && {
        id: "",
        job_id: "",
        created_at: "0001-01-01T00:00:00Z",
        sha256sum: hash("sha256", bytes),
        content_type: "text/plain; charset=utf-8",
      }),
    }));
    const multipart = sendsArtifactTypes && { multipart_supported: true };
    const json = { id: randomUUID(), artifacts, upload_destination: "", ...multipart, ...more };
    return this.repeat("POST", `/jobs/${id}/artifacts`, { json, token });
  }

  /** Sends a file as the instructions say. The path of the action replaces that of its URL. */
  async sendArtifact(form: UploadForm, { path, bytes }: ArtifactFile): Promise<Reply> {
    const { url, path: to, method, file_input } = form.action;
    const address = this.#here(url);
    address.pathname = to;
    const boundary = randomUUID().replaceAll("-", "");
    const part = (disposition: string, more = "") =>
      `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n`;
    const quoted = path.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
    const fields = Object.entries(form.data).map(([name, value]) =>
      Buffer.from(`${part(`name="${name}"`)}${value.replaceAll(`\${artifact:path}`, path)}\r\n`),
    );
    const file = part(
      `name="${file_input}"; filename="${quoted}"`,
      "Content-Type: application/octet-stream\r\n",
    );
    const body = Buffer.concat([...fields, Buffer.from(file), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
    const headers = {
      "Content-Type": `multipart/form-data; boundary=${boundary}`,
      "Content-Length": String(body.length),
    };
    return this.#sendTo(address, { method, headers }, body);
  }

  /** Cuts a file evenly, as newer versions do. */
  async sendParts(actions: PartAction[], { bytes }: ArtifactFile) {
    const size = Math.ceil(bytes.length / actions.length);
    const etags = [];
    for (const { url, method, part_number } of actions) {
      const part = bytes.subarray((part_number - 1) * size, part_number * size);
      const headers = { "Content-Type": "text/plain", "Content-Length": part.length };
      const { status, headers: answered, text } = await this.#sendTo(new URL(url), { method, headers }, part);
      assert.equal(status, 200, text);
      etags.push({ part_number, etag: answered.etag });
    }
    return { multipart: true, multipart_etags: etags };
  }

  searchArtifacts({ token }: AcceptedJob, buildId: string, query: Record<string, string>): Promise<Reply> {
    const state = this.#version.sendsArtifactTypes && { state: "finished" };
    const search = new URLSearchParams({ ...state, ...query });
    return this.send("GET", `/builds/${buildId}/artifacts/search?${search}`, { token });
  }

  /** Without a token. */
  async download(url: string): Promise<Reply> {
    const get = { method: "GET", headers: {} };
    const reply = await this.#sendTo(this.#here(url), get);
    return reply.status === 302 ? this.#sendTo(new URL(reply.headers.location ?? ""), get) : reply;
  }

  /** Tests listen on another address than the public one. */
  #here(url: string): URL {
    const { pathname, search } = new URL(url);
    return new URL(pathname + search, this.#url);
  }

  async finish({ id, token }: AcceptedJob, exitStatus = "0"): Promise<void> {
    await this.repeat("PUT", `/jobs/${id}/finish`, {
      json: {
        exit_status: exitStatus,
        finished_at: "2026-11-21T16:13:15.900539223Z",
        chunks_failed_count: 0,
      },
      token,
    });
  }

  #exchange(method: string, path: string, call: Call): Promise<Reply> {
    const { json, headers, token = this.#session, isChunked } = call;
    const bytes = json === undefined ? call.bytes : Buffer.from(JSON.stringify(json));
    const { version, hasJobToken } = this.#version;
    const sent = {
      Authorization: `Token ${token}`,
      "User-Agent": `buildkite-agent/${version}.1 (linux; amd64)`,
      "Accept-Encoding": "gzip",
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...(bytes ? { "Content-Length": bytes.length } : {}),
      ...(hasJobToken ? { "Buildkite-Timeout-Milliseconds": "59999" } : {}),
      ...(isChunked ? { "Transfer-Encoding": "chunked" } : {}),
      ...headers,
    };
    return this.#sendTo(new URL(this.#url + path), { method, headers: sent }, bytes);
  }

  #sendTo(
    url: URL,
    options: { method: string; headers: Record<string, string | number> },
    bytes?: Buffer,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { ...options, agent: this.#connections }, async (incoming) => {
        const received = Buffer.concat(await incoming.toArray());
        const text = received.toString();
        const isJson = incoming.headers["content-type"]?.startsWith("application/json");
        const { statusCode: status = 0, headers } = incoming;
        resolve({ status, headers, text, bytes: received, body: isJson ? JSON.parse(text) : undefined });
      });
      outgoing.on("error", reject).end(bytes);
    });
  }
}
