import { createHash } from "node:crypto";
import { failForgottenArtifacts } from "../../../shared/artifacts/fail.ts";
import { removeUnnamedBlobs } from "../../../shared/artifacts/remove-unnamed.ts";
import { artifactIdOf, type Blobs } from "../../../shared/blobs/blobs.ts";
import { dayMs } from "../../../shared/durations.ts";
import type { Services } from "../../../shared/process/services.ts";

/** The content of a blob. */
export interface Sum {
  bytes: number;
  sha1: string;
}

/** Does what workers do two days later: what nobody has finished is given up, what nobody names is removed. */
export async function sweepArtifacts(services: Services): Promise<void> {
  const now = () => new Date(services.clock.now().getTime() + 2 * dayMs);
  const later = { ...services, clock: { ...services.clock, now } };
  await failForgottenArtifacts(later);
  await removeUnnamedBlobs(later);
}

/** Reads all blobs of artifacts, by the artifact's id. */
export async function readBlobs(blobs: Blobs): Promise<Map<string, Sum>> {
  const found = new Map<string, Sum>();
  for (let after: string | undefined; ; ) {
    const { names, next } = await blobs.list({ after });
    for (const name of names) {
      const id = artifactIdOf(name);
      const sum = id && (await sumOf(blobs, name));
      if (sum) found.set(id, sum);
    }
    if (next === undefined) return found;
    after = next;
  }
}

async function sumOf(blobs: Blobs, name: string): Promise<Sum | undefined> {
  const content = await blobs.read(name);
  if (!content) return undefined;
  const hash = createHash("sha1");
  let bytes = 0;
  for await (const piece of content.pieces) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha1: hash.digest("hex") };
}
