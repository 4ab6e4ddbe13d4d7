import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import { getRouterParam, H3, type H3Event, HTTPResponse, serve } from "h3";

// A server of files as one would write it by hand: the same form, checksums and syncs, and no rows, owners or bounds.

const { PORT, FOLDER = "" } = process.env;

const app = new H3().post("/files", receive).get("/files/:name", send);

async function receive(event: H3Event) {
  const request = event.runtime?.node?.req as IncomingMessage;
  const parser = new Busboy({ headers: request.headers as BusboyHeaders });
  const stored = new Promise((resolve, reject) => {
    parser.on("file", (_, file) => store(file).then(resolve, reject));
    parser.on("error", reject);
  });
  request.pipe(parser);
  return stored;
}

async function store(content: Readable) {
  const name = randomUUID();
  const [sha1, sha256] = [createHash("sha1"), createHash("sha256")];
  const unfinished = join(FOLDER, `${name}.unfinished`);
  const file = await open(unfinished, "wx");
  for await (const piece of content) {
    sha1.update(piece);
    sha256.update(piece);
    await file.write(piece);
  }
  await file.sync();
  await file.close();
  await rename(unfinished, join(FOLDER, name));
  await syncFolder();
  return { name, sha1: sha1.digest("hex"), sha256: sha256.digest("hex") };
}

/** Otherwise a crash may lose the new name of a file that was answered as stored. */
async function syncFolder() {
  const folder = await open(FOLDER, "r");
  await folder.sync();
  await folder.close();
}

async function send(event: H3Event) {
  const path = join(FOLDER, getRouterParam(event, "name") ?? "");
  const { size } = await stat(path);
  return new HTTPResponse(Readable.toWeb(createReadStream(path)) as ReadableStream, {
    headers: { "Content-Type": "application/octet-stream", "Content-Length": String(size) },
  });
}

serve(app, { hostname: "127.0.0.1", port: Number(PORT), silent: true });
