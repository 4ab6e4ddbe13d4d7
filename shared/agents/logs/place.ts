import type { JobLog, LogKey } from "./store.ts";

export interface LogLease extends LogKey {
  agentId: string;
  organizationId: string;
}

/** A chunk as a transaction writes it. */
export interface NewChunk {
  lease: LogLease;
  /** Undefined: by its place, once it has one. */
  sequence: number | undefined;
  /** False: it goes to the end of the log, and `start` and `end` count from there. */
  isPlaced: boolean;
  start: number;
  /** The end of the chunk as it was received. */
  end: number;
  /** The stored bytes: some may be dropped. */
  size: number;
  lines: number;
  /** Gzip. Of no interest if all of it is dropped. */
  body: Buffer;
}

export type PlacedChunk = NewChunk & { sequence: number };

/** Chunks without a place come last, in the order in which they came. */
export function byPlace(a: NewChunk, b: NewChunk): number {
  return Number(b.isPlaced) - Number(a.isPlaced) || a.start - b.start;
}

/** Call it while the job is locked: until the commit, nobody else adds to the end of its log. */
export function place(chunk: NewChunk, { size }: Pick<JobLog, "size">): PlacedChunk {
  const offset = chunk.isPlaced ? 0 : size;
  const start = chunk.start + offset;
  return { ...chunk, sequence: chunk.sequence ?? sequenceAt(start), start, end: chunk.end + offset };
}

/** The number of a chunk that came without one: below 0, so that it is none of an agent's. */
export function sequenceAt(start: number): number {
  return -1 - (start % 2 ** 31);
}
