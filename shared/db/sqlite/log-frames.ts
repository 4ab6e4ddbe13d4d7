import { readSync } from "node:fs";

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log, of which this reads what a repair needs.

const logHeaderLength = 32;
const frameHeaderLength = 24;
const magic = 0x377f0682;
const framesInChunk = 256;

export interface LogContent {
  pageSize: number;
  /** The size of the database after the last commit. */
  pageCount: number;
  /** Where the newest content of each page begins in the log, by page number. */
  newest: Map<number, number>;
}

/**
 * Reads the first `frames` frames of a log, which are committed. Calls `onRead` for each piece of them, in order.
 * @throws unless each has the checksum of what was written: the kernel no longer has a page that it could not store
 */
export function readFrames(
  descriptor: number,
  frames: number,
  onRead: (bytes: Buffer, offset: number) => void,
): LogContent {
  const header = readAt(descriptor, 0, logHeaderLength);
  const isLittleEndian = header.readUInt32BE(0) === magic;
  let state = sum(header.subarray(0, 24), { first: 0, second: 0 }, isLittleEndian);
  const hasSum = (bytes: Buffer, offset: number) =>
    bytes.readUInt32BE(offset) === state.first && bytes.readUInt32BE(offset + 4) === state.second;
  if (header.readUInt32BE(0) >>> 1 !== magic >>> 1 || !hasSum(header, 24)) throw damaged(0);
  onRead(header, 0);

  const pageSize = header.readUInt32BE(8);
  const salts = header.subarray(16, 24);
  const frameLength = frameHeaderLength + pageSize;
  const content: LogContent = { pageSize, pageCount: 0, newest: new Map() };
  for (let first = 0; first < frames; first += framesInChunk) {
    const chunkAt = logHeaderLength + first * frameLength;
    const chunk = readAt(descriptor, chunkAt, Math.min(framesInChunk, frames - first) * frameLength);
    for (let at = 0; at < chunk.length; at += frameLength) {
      const frame = chunk.subarray(at, at + frameLength);
      state = sum(frame.subarray(0, 8), state, isLittleEndian);
      state = sum(frame.subarray(frameHeaderLength), state, isLittleEndian);
      if (!hasSum(frame, 16) || !frame.subarray(8, 16).equals(salts)) throw damaged(chunkAt + at);
      content.newest.set(frame.readUInt32BE(0), chunkAt + at + frameHeaderLength);
      content.pageCount = frame.readUInt32BE(4) || content.pageCount;
    }
    onRead(chunk, chunkAt);
  }
  return content;
}

/** @throws when the file ends before */
export function readAt(descriptor: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const count = readSync(descriptor, bytes, done, length - done, offset + done);
    if (count === 0) throw damaged(offset + done);
    done += count;
  }
  return bytes;
}

class LogDamaged extends Error {
  override readonly name = "LogDamaged";
}

function damaged(offset: number): LogDamaged {
  return new LogDamaged(`the log is not as it was written, from byte ${offset} on`);
}

interface Sum {
  first: number;
  second: number;
}

/** The sums of the log's header and frames. Numbers are big-endian in the log, but not always in its sums. */
function sum(bytes: Buffer, { first, second }: Sum, isLittleEndian: boolean): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + view.getUint32(at, isLittleEndian) + second) >>> 0;
    second = (second + view.getUint32(at + 4, isLittleEndian) + first) >>> 0;
  }
  return { first, second };
}
