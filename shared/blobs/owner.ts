import { createHash } from "node:crypto";
import type { Blobs } from "./blobs.ts";

const markName = "installation";

/**
 * Returns the installation that has marked the store. Marks it if nobody has.
 * @throws BlobsUnavailable
 */
export async function markOwner(blobs: Blobs, installation: string): Promise<string> {
  const owner = await findOwner(blobs);
  if (owner !== undefined) return owner;
  const mark = Buffer.from(installation);
  const sha1 = createHash("sha1").update(mark).digest("hex");
  await blobs.write(markName, oneChunk(mark), { bytes: mark.length, sha1 });
  return installation;
}

/** @throws BlobsUnavailable */
export async function findOwner(blobs: Blobs): Promise<string | undefined> {
  const mark = await blobs.read(markName);
  if (!mark) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of mark.pieces) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
