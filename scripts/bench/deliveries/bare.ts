import type { IncomingMessage } from "node:http";
import { H3, type H3Event, serve } from "h3";

/** Reads the body from Node's request and sends it back. */
const app = new H3().post("/**", (event) => readBody(event));

function readBody(event: H3Event): Promise<Buffer> {
  const request = event.runtime?.node?.req as IncomingMessage;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
      .on("error", reject);
  });
}

serve(app, { hostname: "127.0.0.1", port: Number(process.env.PORT), silent: true });
