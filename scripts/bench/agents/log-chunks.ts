import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** As much as an agent sends at once. */
const chunkBytes = 100 * 1000;
const variants = 20;

export interface LogChunk {
  /** Before compression. */
  size: number;
  /** Gzip, a fifth to a quarter of the size. */
  body: Buffer;
}

let chunks: LogChunk[] | undefined;

/** Chunks of one size, which repeat. */
export function logChunk(index: number): LogChunk {
  chunks ??= Array.from({ length: variants }, (_, variant) => makeChunk(variant));
  return chunks[index % variants] as LogChunk;
}

export function pathOfChunk(
  jobId: string,
  place: { sequence: number; offset: number; size: number },
): string {
  const { sequence, offset, size } = place;
  return `/v3/jobs/${jobId}/chunks?sequence=${sequence}&offset=${offset}&size=${size}`;
}

function makeChunk(variant: number): LogChunk {
  const lines: string[] = [];
  for (let bytes = 0, line = 0; bytes < chunkBytes; line++) {
    const hash = createHash("sha256").update(`${variant} ${line}`).digest("hex").slice(0, 24);
    const text = `2026-01-31T12:00:${line % 60}Z compiled src/part-${line % 97}/module-${line}.ts → dist/${hash}.js\n`;
    lines.push(text);
    bytes += Buffer.byteLength(text);
  }
  const plain = Buffer.from(lines.join("")).subarray(0, chunkBytes);
  return { size: plain.length, body: gzipSync(plain) };
}
