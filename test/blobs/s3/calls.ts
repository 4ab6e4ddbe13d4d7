import { createHash, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { State } from "./server.ts";

export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export interface Stored {
  body: Buffer;
  at: Date;
}

export interface Upload {
  key: string;
  begunAt: Date;
  parts: Map<number, Buffer>;
}

interface Call {
  method: string;
  key: string;
  query: URLSearchParams;
  body: Buffer;
}

const minPartBytes = 5 * 1024 ** 2;
const etagOf = (bytes: Buffer) => `"${createHash("md5").update(bytes).digest("hex")}"`;

function sendXml(response: ServerResponse, root: string, inside: string): void {
  response
    .writeHead(200, { "content-type": "application/xml" })
    .end(`<?xml version="1.0"?><${root}>${inside}</${root}>`);
}

export function answerObject(
  { objects }: State,
  { method, key, query, body }: Call,
  range: string | undefined,
  response: ServerResponse,
): void {
  if (method === "GET" && query.has("list-type")) return void list(objects, query, response);
  if (method === "PUT") {
    objects.set(key, { body, at: new Date() });
    return void response.writeHead(200, { etag: etagOf(body) }).end();
  }
  if (method === "DELETE") {
    objects.delete(key);
    return void response.writeHead(204).end();
  }
  const found = objects.get(key);
  if (!found) throw new Refused(404, "NoSuchKey");
  const [, from = "0", to = String(found.body.length - 1)] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
  const part = found.body.subarray(Number(from), Number(to) + 1);
  const header = (name: string) => query.get(`response-${name}`);
  response.writeHead(range ? 206 : 200, {
    "content-length": part.length,
    "last-modified": found.at.toUTCString(),
    "content-type": header("content-type") ?? "application/octet-stream",
    ...(header("content-disposition") && { "content-disposition": header("content-disposition") ?? "" }),
  });
  response.end(method === "HEAD" ? undefined : part);
}

function list(objects: State["objects"], query: URLSearchParams, response: ServerResponse): void {
  const [prefix, after] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
  const max = Math.min(Number(query.get("max-keys") ?? 1000), 5); // small pages, so that callers ask for more
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const contents = keys.slice(0, max).map((key) => `<Contents><Key>${key}</Key></Contents>`);
  sendXml(
    response,
    "ListBucketResult",
    `<IsTruncated>${keys.length > max}</IsTruncated>${contents.join("")}`,
  );
}

export function answerUpload(
  { objects, uploads }: State,
  { method, key, query, body }: Call,
  _: string | undefined,
  response: ServerResponse,
): void {
  const id = query.get("uploadId");
  if (method === "GET" && id === null) {
    const listed = [...uploads].map(
      ([uploadId, upload]) =>
        `<Upload><Key>${upload.key}</Key><UploadId>${uploadId}</UploadId><Initiated>${upload.begunAt.toISOString()}</Initiated></Upload>`,
    );
    return void sendXml(
      response,
      "ListMultipartUploadsResult",
      `<IsTruncated>false</IsTruncated>${listed.join("")}`,
    );
  }
  if (method === "POST" && id === null) {
    const uploadId = randomUUID();
    uploads.set(uploadId, { key, begunAt: new Date(), parts: new Map() });
    return void sendXml(response, "InitiateMultipartUploadResult", `<UploadId>${uploadId}</UploadId>`);
  }
  const upload = uploads.get(id ?? "");
  if (!upload || upload.key !== key) throw new Refused(404, "NoSuchUpload");
  if (method === "PUT") {
    upload.parts.set(Number(query.get("partNumber")), body);
    return void response.writeHead(200, { etag: etagOf(body) }).end();
  }
  if (method === "POST") {
    objects.set(key, { body: join(upload, body.toString()), at: new Date() });
    uploads.delete(id ?? "");
    return void sendXml(response, "CompleteMultipartUploadResult", `<Key>${key}</Key>`);
  }
  uploads.delete(id ?? "");
  response.writeHead(204).end();
}

function join({ parts }: Upload, xml: string): Buffer {
  const named = [...xml.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
    number: Number(/<PartNumber>(\d+)/.exec(part)?.[1]),
    etag: /<ETag>(.*?)<\/ETag>/.exec(part)?.[1]?.replaceAll("&quot;", '"'),
  }));
  if (named.length === 0) throw new Refused(400, "MalformedXML");
  return Buffer.concat(
    named.map(({ number, etag }, at) => {
      const part = parts.get(number);
      if (!part || etagOf(part) !== etag) throw new Refused(400, "InvalidPart");
      if (at > 0 && number <= (named[at - 1]?.number ?? 0)) throw new Refused(400, "InvalidPartOrder");
      if (at < named.length - 1 && part.length < minPartBytes) throw new Refused(400, "EntityTooSmall");
      return part;
    }),
  );
}
