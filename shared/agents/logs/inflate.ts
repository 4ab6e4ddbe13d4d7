import { turns } from "../../sharing/bounds.ts";
import { openLoopTurns } from "../../sharing/loop-turns.ts";
import { openTurns } from "../../sharing/turns.ts";
import { deflateChunk, inflateReceived, inflatesOnLoop } from "./codec.ts";

/** Compression, in which organizations take turns. */
export interface ChunkCompression {
  /** @throws Refusal 413, 400, 503 */
  inflate(organizationId: string, body: Buffer): Promise<Buffer>;
  /** @throws Refusal 503 */
  deflate(organizationId: string, bytes: Buffer): Promise<Buffer>;
}

export function openChunkCompression(): ChunkCompression {
  const onLoop = openLoopTurns(turns.logChunks);
  const inThreads = openTurns(turns.largeLogChunks);
  return {
    async inflate(organizationId, body) {
      if (!inflatesOnLoop(body)) return inThreads.take(organizationId, () => inflateReceived(body));
      await onLoop(organizationId);
      return inflateReceived(body);
    },
    deflate: (organizationId, bytes) => inThreads.take(organizationId, () => deflateChunk(bytes)),
  };
}
