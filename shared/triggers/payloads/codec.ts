import { Readable } from "node:stream";
import { promisify } from "node:util";
import {
  constants,
  createInflateRaw,
  deflateRaw,
  deflateRawSync,
  inflateRaw,
  inflateRawSync,
} from "node:zlib";
import { freeBuffers, trim } from "../../process/own-buffers.ts";
import type { PayloadCodec } from "../../vocabulary.ts";

export interface EncodedBody {
  codec: PayloadCodec;
  /** The bytes as stored. */
  bytes: Buffer;
  /** Bytes as received. */
  size: number;
}

/** Smaller bodies gain hardly a page of the database. */
const minDeflateBytes = 4096;
/** By measurement on webhooks: level 1 takes as long and makes 3 % more, level 6 takes twice as long for 8 % less. */
const level = 3;
/** 32 KB take 0.03 ms of the event loop, or 0.6 ms if they hardly repeat. A trip to the pool takes 0.15 ms of CPU. */
const maxBytesOnLoop = 32 * 1024;

const deflateInPool = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Deflates bodies from 4 KB, if that makes them smaller: up to 32 KB on the event loop, others in the thread pool. */
export async function encodeBody(body: Buffer): Promise<EncodedBody> {
  if (body.length <= maxBytesOnLoop) return encodeBodySync(body);
  return shorterOf(body, await deflateInPool(body, { level }));
}

/** As `encodeBody`, at once. */
export function encodeBodySync(body: Buffer): EncodedBody {
  return shorterOf(body, body.length < minDeflateBytes ? body : deflateRawSync(body, { level }));
}

/**
 * As `encodeBody`, in a thread that may block. Frees what it deflated, and makes no garbage: V8 lets 64 MB of it gather in
 * each thread.
 */
export function encodeBodyInThread(body: Buffer): EncodedBody {
  if (body.length <= maxBytesOnLoop) return encodeBodySync(body);
  const encoded = shorterOf(body, trim(deflateRawSync(body, { level, chunkSize: body.length })));
  if (encoded.bytes !== body) freeBuffers([body]);
  return encoded;
}

function shorterOf(body: Buffer, deflated: Buffer): EncodedBody {
  const size = body.length;
  if (deflated.length < size) return { codec: "deflate", bytes: deflated, size };
  return { codec: "identity", bytes: body, size };
}

/** The bytes as received. @throws Error when the stored bytes are damaged */
export async function decodeBody({ codec, bytes, size }: EncodedBody): Promise<Buffer> {
  if (codec === "identity") return bytes;
  return requireSize(await inflate(bytes, inflateOptions(size)), size);
}

/**
 * The first bytes of a body as received.
 * @param body.bytes stored bytes, perhaps cut: as many as are wanted, and a little more
 */
export async function decodeStart(
  { codec, bytes }: Pick<EncodedBody, "codec" | "bytes">,
  maxBytes: number,
): Promise<Buffer> {
  if (codec === "identity") return bytes.subarray(0, maxBytes);
  const inflating = createInflateRaw({ chunkSize: maxBytes, finishFlush: constants.Z_SYNC_FLUSH });
  for await (const chunk of Readable.from([bytes]).pipe(inflating)) return chunk;
  return Buffer.alloc(0);
}

/** Like `decodeBody`, for a thread that may block. */
export function decodeBodySync({ codec, bytes, size }: EncodedBody): Buffer {
  if (codec === "identity") return bytes;
  return requireSize(inflateRawSync(bytes, inflateOptions(size)), size);
}

/** A single chunk, because each one is a round trip to the pool, and no byte more than was received. */
function inflateOptions(size: number) {
  return { chunkSize: size + 1, maxOutputLength: size };
}

function requireSize(body: Buffer, size: number): Buffer {
  if (body.length !== size) throw new Error("A stored payload is damaged.");
  return body;
}
