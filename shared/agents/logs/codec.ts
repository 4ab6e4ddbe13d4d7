import { promisify } from "node:util";
import { gunzip, gunzipSync, gzip } from "node:zlib";
import { Refusal } from "../../refusal.ts";

/** Agents send pieces of at most this size, before compression. */
export const maxChunkBytes = 102_400;

const inflate = promisify(gunzip);
const deflate = promisify(gzip);

/** @throws Refusal 413, 400 for what no repetition mends */
export async function inflateReceived(body: Buffer): Promise<Buffer> {
  try {
    return await inflate(body, { maxOutputLength: maxChunkBytes });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ERR_BUFFER_TOO_LARGE") throw chunkTooLarge();
    if (code?.startsWith("Z_") || code?.startsWith("ERR_")) throw new Refusal(400, "Body is not valid gzip");
    throw error;
  }
}

export function chunkTooLarge(): Refusal {
  return new Refusal(413, `Chunk is larger than ${maxChunkBytes} bytes`);
}

export function deflateChunk(bytes: Buffer): Promise<Buffer> {
  return deflate(bytes);
}

/** A thread takes eight times as long as these take here. */
const smallBytes = 2048;

/** @throws Error when the stored bytes are damaged */
export async function inflateStored(body: Buffer, size: number): Promise<Buffer> {
  const options = { maxOutputLength: maxChunkBytes, chunkSize: size + 64 };
  const isSmall = size <= smallBytes && body.length <= smallBytes;
  const bytes = isSmall ? gunzipSync(body, options) : await inflate(body, options);
  if (bytes.length < size) throw new Error("A stored log is damaged.");
  return bytes.subarray(0, size);
}
