import { createHash } from "node:crypto";
import type { Blobs, Expected, Mismatch } from "./blobs.ts";

/** Pieces are written and read in these: a larger one would hash for too long in one turn of the event loop. */
export const pieceBytes = 64 * 1024;

/** Compares content with what it has to be, piece by piece. */
export class ContentCheck {
  readonly #expected: Expected;
  readonly #sha1 = createHash("sha1");
  readonly #sha256;
  #bytes = 0;

  constructor(expected: Expected) {
    this.#expected = expected;
    this.#sha256 = expected.sha256 ? createHash("sha256") : undefined;
  }

  /** Returns "size" as soon as there is too much. */
  add(piece: Uint8Array): "size" | undefined {
    this.#bytes += piece.length;
    if (this.#bytes > this.#expected.bytes) return "size";
    this.#sha1.update(piece);
    this.#sha256?.update(piece);
    return undefined;
  }

  /** Call once, after the last piece. */
  end(): Mismatch | undefined {
    const { bytes, sha1, sha256 } = this.#expected;
    if (this.#bytes !== bytes) return "size";
    if (this.#sha1.digest("hex") !== sha1) return "sha1";
    return this.#sha256 && this.#sha256.digest("hex") !== sha256 ? "sha256" : undefined;
  }
}

/** Cuts large pieces, which come from callers, and joins small ones: to write each takes a trip to a thread. */
export async function* inPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let joined: Buffer | undefined;
  let bytes = 0;
  for await (const piece of content)
    for (let at = 0; at < piece.length; at += pieceBytes) {
      const part = piece.subarray(at, at + pieceBytes);
      if (joined && bytes + part.length > pieceBytes) {
        yield joined.subarray(0, bytes);
        joined = undefined;
      }
      if (!joined && part.length > pieceBytes / 2) {
        yield part;
        continue;
      }
      if (!joined) bytes = 0;
      joined ??= Buffer.allocUnsafe(pieceBytes);
      joined.set(part, bytes);
      bytes += part.length;
    }
  if (joined) yield joined.subarray(0, bytes);
}

/**
 * Reads a whole blob, and compares it.
 * @throws BlobsUnavailable
 */
export async function checkBlob(
  blobs: Blobs,
  name: string,
  expected: Expected,
): Promise<Mismatch | "missing" | undefined> {
  const found = await blobs.read(name);
  if (!found) return "missing";
  if (found.bytes !== expected.bytes) return "size";
  const check = new ContentCheck(expected);
  for await (const piece of found.pieces) check.add(piece);
  return check.end();
}
