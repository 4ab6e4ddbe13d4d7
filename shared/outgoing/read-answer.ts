import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

const maxBytes = 64 * 1024;

/** An answer to a request. */
export interface OutgoingAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Its first 64 KB. */
  text: string;
}

/** Reads the start of a body, and closes the connection on the rest. */
export async function readAnswer(response: IncomingMessage): Promise<OutgoingAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}
