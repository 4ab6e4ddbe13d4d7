import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, get, Agent as HttpAgent, type IncomingMessage, request } from "node:http";
import { patterns } from "../../../shared/paths.ts";
import { type AcceptedJob, openConnection } from "../agents/agent.ts";

// The calls of agents for artifacts, and the forms in which bytes travel. The server by hand has the same.

/** The content of any number of artifacts. */
export type ArtifactContent = ReturnType<typeof makeContent>;

/** An answer whose bytes were let go as they came. */
export interface Received {
  status: number;
  bytes: number;
  /** The whole of a short one. */
  start: string;
}

/** A multipart form with one file, which is ready to be sent. */
type UploadForm = ReturnType<typeof makeForm>;

const sockets = new HttpAgent({ keepAlive: true });
const boundary = "------------------------bench";
const maxStart = 1024;

export function makeContent(size: number) {
  const bytes = randomBytes(size);
  const hash = (name: string) => createHash(name).update(bytes).digest("hex");
  return { bytes, sha1: hash("sha1"), sha256: hash("sha256") };
}

export function makeForm(url: string, fields: Record<string, string>, { bytes }: ArtifactContent) {
  const part = (disposition: string, value = "") =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}`;
  const texts = Object.entries(fields).map(([name, value]) => `${part(`name="${name}"`, value)}\r\n`);
  const head = Buffer.from(`${texts.join("")}${part(`name="file"; filename="artifact"`)}`);
  const pieces = [head, bytes, Buffer.from(`\r\n--${boundary}--\r\n`)];
  const length = pieces.reduce((sum, each) => sum + each.length, 0);
  const type = `multipart/form-data; boundary=${boundary}`;
  return { url, headers: { "Content-Type": type, "Content-Length": String(length) }, pieces };
}

/**
 * Uploads the artifacts of a job, one after the other, each with this content and a path of its own. Announces `count` at
 * once, and finishes them before the next ones.
 */
export function openUploader(
  url: string,
  { id: jobId, token }: AcceptedJob,
  {
    headers = {},
    content,
    count,
  }: { headers?: Record<string, string>; content: ArtifactContent; count: number },
) {
  const connection = openConnection(url, headers);
  const path = `/v3/jobs/${jobId}/artifacts`;
  const waiting: { id: string; form: UploadForm }[] = [];
  const sent: string[] = [];
  const announce = async () => {
    const paths = Array.from({ length: count }, () => `dist/${randomUUID()}.bin`);
    const artifacts = paths.map((path) => ({
      path,
      absolute_path: `/build/${path}`,
      file_size: content.bytes.length,
      sha1sum: content.sha1,
      sha256sum: content.sha256,
    }));
    const body = { id: randomUUID(), artifacts };
    const announced = await connection.call<Announced>("POST", path, { token, body });
    const { data, action } = announced.upload_instructions;
    const target = new URL(action.path, action.url).href;
    for (const [index, id] of announced.artifact_ids.entries()) {
      const fields = "path" in data ? { ...data, path: paths[index] as string } : data;
      waiting.push({ id, form: makeForm(target, fields, content) });
    }
  };
  const finish = async () => {
    const artifacts = sent.splice(0).map((id) => ({ id, state: "finished" }));
    if (artifacts.length > 0) await connection.call("PUT", path, { token, body: { artifacts } });
  };
  return {
    async upload(): Promise<Received> {
      if (waiting.length === 0) await announce();
      const next = waiting.shift() as (typeof waiting)[number];
      const received = await sendForm(next.form, headers);
      if (received.status === 200) sent.push(next.id);
      if (waiting.length === 0) await finish();
      return received;
    },
    finish,
    close: connection.close,
  };
}

interface Announced {
  artifact_ids: string[];
  upload_instructions: { data: Record<string, string>; action: { url: string; path: string } };
}

/** Returns the addresses of the finished artifacts of the job's build. */
export async function findAddresses(url: string, { env, token }: AcceptedJob): Promise<string[]> {
  const path = patterns.searchArtifacts.replace(":id", env.BUILDKITE_BUILD_ID ?? "");
  const answer = await fetch(`${url}${path}?query=*`, { headers: { Authorization: `Token ${token}` } });
  return ((await answer.json()) as { url: string }[]).map((artifact) => artifact.url);
}

export function sendForm({ url, headers, pieces }: UploadForm, more: Record<string, string> = {}) {
  const upload = request(url, { method: "POST", agent: sockets, headers: { ...headers, ...more } });
  for (const piece of pieces) upload.write(piece);
  upload.end();
  return readAnswer(upload);
}

export function download(url: string): Promise<Received> {
  return readAnswer(get(url, { agent: sockets }));
}

async function readAnswer(sent: ClientRequest): Promise<Received> {
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let [bytes, start] = [0, ""];
  answer.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (start === "") start = chunk.toString("latin1", 0, maxStart);
  });
  await once(answer, "end");
  return { status: answer.statusCode ?? 0, bytes, start };
}
