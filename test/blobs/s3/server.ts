import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { answerObject, answerUpload, Refused, type Stored, type Upload } from "./calls.ts";
import { isSigned } from "./signature.ts";

export interface S3Server extends AsyncDisposable {
  /** A BLOB_URL. Its credentials are in the environment. */
  url: string;
  uploads: Map<string, Upload>;
}

export interface State {
  objects: Map<string, Stored>;
  uploads: Map<string, Upload>;
}

const bucket = "artifacts-of-tests";
const keys = { id: "key-of-tests", secret: "secret-of-tests" };
const parameters =
  /^(X-Amz-\w+(-\w+)*|x-id|list-type|prefix|max-keys|start-after|uploads|uploadId|partNumber|response-content-(type|disposition))$/;

/**
 * A stand-in for S3, with the calls that are used. It is as strict as S3: signatures, sizes of parts, ETags, bodies that
 * end early. No server with the interface can be had from npm or Debian alone: s3rver stores what ends early.
 */
export async function startS3(prefix = "some/prefix"): Promise<S3Server> {
  const state: State = { objects: new Map(), uploads: new Map() };
  const server = createServer((request, response) => {
    answer(state, request, response).catch((error) => refuse(response, error));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: keys.id, AWS_SECRET_ACCESS_KEY: keys.secret });
  return {
    url: `s3://${bucket}/${prefix}?endpoint=http://127.0.0.1:${port}&region=us-east-1`,
    uploads: state.uploads,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "", `http://${request.headers.host}`);
  if (!isSigned(request, url, keys)) throw new Refused(403, "SignatureDoesNotMatch");
  for (const name of url.searchParams.keys())
    if (!parameters.test(name)) throw new Refused(501, "NotImplemented");
  const [, name, ...rest] = url.pathname.split("/");
  if (name !== bucket) throw new Refused(404, "NoSuchBucket");
  if (request.method === "PUT" && request.headers["content-length"] === undefined)
    throw new Refused(411, "MissingContentLength");
  const body = await buffer(request); // rejects if the request ends early
  const call = {
    method: request.method ?? "",
    key: decodeURIComponent(rest.join("/")),
    query: url.searchParams,
    body,
  };
  const isOfUploads = call.query.has("uploads") || call.query.has("uploadId");
  (isOfUploads ? answerUpload : answerObject)(state, call, request.headers.range, response);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (!(error instanceof Refused)) return void response.destroy();
  const text = `<?xml version="1.0"?><Error><Code>${error.code}</Code><Message>${error.code}</Message></Error>`;
  response.writeHead(error.status, { "content-type": "application/xml" }).end(text);
}
