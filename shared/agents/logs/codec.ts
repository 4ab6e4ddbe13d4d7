import { promisify } from "node:util";
import { gunzip, gunzipSync, gzip } from "node:zlib";
import { openLoopPauses } from "../../process/loop-pauses.ts";
import { Refusal } from "../../refusal.ts";

/** Agents send pieces of at most this size, before compression. */
export const maxChunkBytes = 102_400;

const inflate = promisify(gunzip);
const deflate = promisify(gzip);

/**
 * Bodies of up to this size are inflated on the event loop, for less than 1 ms. The thread pool takes half as much again.
 * One that is made of many small blocks takes 3 ms; a larger one would take 15.
 */
const maxBytesOnLoop = 32 * 1024;
const minOutputBytes = 16 * 1024;

/** Returns false if the body is inflated in the thread pool. */
export function inflatesOnLoop({ length }: Buffer): boolean {
  return length <= maxBytesOnLoop;
}

/** @throws Refusal 413, 400 for a body that the agent need not send again */
export async function inflateReceived(body: Buffer): Promise<Buffer> {
  const options = { maxOutputLength: maxChunkBytes, chunkSize: outputBytes(body) };
  try {
    return inflatesOnLoop(body) ? gunzipSync(body, options) : await inflate(body, options);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ERR_BUFFER_TOO_LARGE") throw chunkTooLarge();
    if (code?.startsWith("Z_") || code?.startsWith("ERR_")) throw new Refusal(400, "Body is not valid gzip");
    throw error;
  }
}

/**
 * The room for the output, by the size at the end of a gzip file (RFC 1952 §2.3.1). If it is not enough, zlib continues
 * in another run in the thread pool: its default of 16 KB makes seven of a chunk. A spare byte shows that all is out.
 */
function outputBytes(body: Buffer): number {
  const size = body.length < 4 ? 0 : body.readUInt32LE(body.length - 4);
  return Math.min(Math.max(size, minOutputBytes), maxChunkBytes) + 1;
}

/** By the magic number of RFC 1952 §2.3.1. */
export function beginsAsGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function chunkTooLarge(): Refusal {
  return new Refusal(413, `Chunk is larger than ${maxChunkBytes} bytes`);
}

/** Copies zlib's result: it is a slice of 16 KB, which would stay in memory as a whole. */
export async function deflateChunk(bytes: Buffer): Promise<Buffer> {
  return Buffer.from(await deflate(bytes));
}

interface StoredChunk {
  body: Buffer;
  size: number;
}

/** Inflated together. */
const smallBytes = 2048;

/**
 * Returns a function that inflates stored chunks, by their index. Small ones that follow each other go together, as one
 * file of many gzip members: a call costs more than their bytes.
 */
export function openInflater(chunks: StoredChunk[]): (index: number) => Promise<Buffer> {
  let first = 0;
  let inflated: Buffer[] = [];
  return async (index) => {
    if (!inflated[index - first]) {
      first = index;
      inflated = await inflateStored(chunks.slice(index, endOfRun(chunks, index)));
    }
    return inflated[index - first] as Buffer;
  };
}

function endOfRun(chunks: StoredChunk[], start: number): number {
  const end = chunks.findIndex((chunk, index) => index >= start && !isSmall(chunk));
  return end === -1 ? chunks.length : Math.max(end, start + 1);
}

function isSmall({ size, body }: StoredChunk): boolean {
  return size <= smallBytes && body.length <= smallBytes;
}

/** @throws Error when the stored bytes are damaged */
async function inflateStored(chunks: StoredChunk[]): Promise<Buffer[]> {
  const [first, ...more] = chunks;
  if (!first) return [];
  if (more.length === 0) return [await inflateAlone(first)];
  const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0);
  const options = { maxOutputLength: size + 1, chunkSize: size + 64 };
  const all = await inflate(Buffer.concat(chunks.map(({ body }) => body)), options).catch(() => undefined);
  if (all?.length !== size) return inflateEach(chunks); // zeros may follow a member
  let end = 0;
  return chunks.map((chunk) => {
    end += chunk.size;
    return all.subarray(end - chunk.size, end);
  });
}

async function inflateEach(chunks: StoredChunk[]): Promise<Buffer[]> {
  const inflated: Buffer[] = [];
  const pause = openLoopPauses();
  for (const chunk of chunks) {
    await pause();
    inflated.push(await inflateAlone(chunk));
  }
  return inflated;
}

async function inflateAlone(chunk: StoredChunk): Promise<Buffer> {
  const { body, size } = chunk;
  const options = { maxOutputLength: maxChunkBytes, chunkSize: size + 64 };
  const bytes = inflatesOnLoop(body) ? gunzipSync(body, options) : await inflate(body, options);
  if (bytes.length < size) throw new Error("A stored log is damaged.");
  return bytes.subarray(0, size);
}
