import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, type ClientRequest, get, type IncomingMessage, request } from "node:http";
import { patterns } from "../../../shared/paths.ts";
import type { AcceptedJob, AgentConnection } from "./agent.ts";

// The calls of agents for artifacts, and the forms in which bytes travel. The server by hand has the same.

/** The content of any number of artifacts. */
export interface ArtifactContent {
  bytes: Buffer;
  sha1: string;
  sha256: string;
}

/** A multipart form with one file, which is ready to be sent. */
export interface UploadForm {
  url: string;
  headers: Record<string, string>;
  pieces: Buffer[];
}

/** An answer whose bytes were let go as they came. */
export interface Received {
  status: number;
  bytes: number;
  /** The whole of a short one. */
  start: string;
}

export interface AnnouncedUpload {
  /** Of the artifact. */
  id: string;
  form: UploadForm;
}

const sockets = new Agent({ keepAlive: true });
const boundary = "------------------------bench";
const file = "file";
const maxStart = 1024;

export function makeContent(size: number): ArtifactContent {
  const bytes = randomBytes(size);
  const hash = (name: string) => createHash(name).update(bytes).digest("hex");
  return { bytes, sha1: hash("sha1"), sha256: hash("sha256") };
}

export function makeForm(
  url: string,
  fields: Record<string, string>,
  { bytes }: ArtifactContent,
): UploadForm {
  const part = (disposition: string, value = "") =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}`;
  const texts = Object.entries(fields).map(([name, value]) => `${part(`name="${name}"`, value)}\r\n`);
  const head = Buffer.from(`${texts.join("")}${part(`name="${file}"; filename="artifact"`)}`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const pieces = [head, bytes, tail];
  return {
    url,
    headers: {
      "Content-Type": `multipart/form-data; boundary=${boundary}`,
      "Content-Length": String(pieces.reduce((sum, { length }) => sum + length, 0)),
    },
    pieces,
  };
}

/**
 * Announces as many artifacts, each of this content and with a path of its own. Call `finishArtifacts` once they are
 * uploaded.
 */
export async function announce(
  connection: AgentConnection,
  { id, token }: AcceptedJob,
  { content, count }: { content: ArtifactContent; count: number },
): Promise<AnnouncedUpload[]> {
  const paths = Array.from({ length: count }, () => `dist/${randomUUID()}.bin`);
  const artifacts = paths.map((path) => ({
    path,
    absolute_path: `/build/${path}`,
    file_size: content.bytes.length,
    sha1sum: content.sha1,
    sha256sum: content.sha256,
  }));
  const body = { id: randomUUID(), artifacts };
  const announced = await connection.call<Announced>("POST", `/v3/jobs/${id}/artifacts`, { token, body });
  const { data, action } = announced.upload_instructions;
  const url = new URL(action.path, action.url).href;
  const fill = (path: string) =>
    Object.fromEntries(Object.entries(data).map(([name, value]) => [name, name === "path" ? path : value]));
  return announced.artifact_ids.map((id, index) => ({
    id,
    form: makeForm(url, fill(paths[index] as string), content),
  }));
}

interface Announced {
  artifact_ids: string[];
  upload_instructions: { data: Record<string, string>; action: { url: string; path: string } };
}

export async function finishArtifacts(
  connection: AgentConnection,
  { id, token }: AcceptedJob,
  ids: string[],
): Promise<void> {
  const body = { artifacts: ids.map((id) => ({ id, state: "finished" })) };
  await connection.call("PUT", `/v3/jobs/${id}/artifacts`, { token, body });
}

/** Returns the addresses of the finished artifacts of the job's build. */
export async function findAddresses(url: string, { env, token }: AcceptedJob): Promise<string[]> {
  const path = patterns.searchArtifacts.replace(":id", env.BUILDKITE_BUILD_ID ?? "");
  const answer = await fetch(`${url}${path}?query=*`, { headers: { Authorization: `Token ${token}` } });
  return ((await answer.json()) as { url: string }[]).map((artifact) => artifact.url);
}

export function sendForm(
  { url, headers, pieces }: UploadForm,
  moreHeaders: Record<string, string> = {},
): Promise<Received> {
  const upload = request(url, { method: "POST", agent: sockets, headers: { ...headers, ...moreHeaders } });
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
