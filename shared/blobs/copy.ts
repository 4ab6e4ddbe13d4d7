import { createHash } from "node:crypto";
import type { Blobs, Expected } from "./blobs.ts";

export interface Copied {
  /** In the source. */
  blobs: number;
  /** Those that the target lacked. */
  copied: number;
  bytes: number;
}

/**
 * Copies the blobs that the target lacks: none ever changes. Blobs that are deleted meanwhile are left out.
 * @throws BlobsUnavailable
 */
export async function copyBlobs(from: Blobs, to: Blobs): Promise<Copied> {
  const sum: Copied = { blobs: 0, copied: 0, bytes: 0 };
  for (let after: string | undefined; ; ) {
    const { names, next } = await from.list({ after });
    for (const name of names) {
      const found = await from.find(name);
      if (!found) continue;
      sum.blobs++;
      sum.bytes += found.bytes;
      if ((await to.find(name))?.bytes === found.bytes) continue;
      if (await copy(from, to, name)) sum.copied++;
    }
    after = next;
    if (after === undefined) return sum;
  }
}

/** Reads the blob twice, and compares what it writes with what it read first. */
async function copy(from: Blobs, to: Blobs, name: string): Promise<boolean> {
  const first = await from.read(name);
  if (!first) return false;
  const expected = await sumUp(first.pieces, first.bytes);
  const again = await from.read(name);
  if (!again) return false;
  const mismatch = await to.write(name, again.pieces, expected);
  if (mismatch) throw new Error(`${name} reads differently each time: ${mismatch}`);
  return true;
}

async function sumUp(pieces: AsyncIterable<Uint8Array>, bytes: number): Promise<Expected> {
  const hash = createHash("sha1");
  for await (const piece of pieces) hash.update(piece);
  return { bytes, sha1: hash.digest("hex") };
}
