import type { Db } from "../../../db/database.ts";
import { openOrder } from "../../../sharing/in-order.ts";
import { rememberRecent } from "../../../sharing/recent.ts";
import { openSlices } from "../../../sharing/resources.ts";
import { countLinesBefore, findStartOfChunkBefore } from "../chunk-store.ts";
import { type ReadableLog, readLog } from "../read.ts";
import { nameOf } from "../store.ts";
import { LogScan, type Outline } from "./scan.ts";

export interface ReadOutline extends Outline {
  /** The bytes of the log that were read. */
  bytes: number;
  /** All that is stored now was read. */
  isWhole: boolean;
}

/** Full of colors, as much takes a millisecond. */
const scannedAtOnce = 16 * 1024;
/** Jobs may send single bytes. */
const maxChunks = 50_000;
/** The end of a log in which its failure is looked for. */
const tailBytes = 2 * 1024 * 1024;
const maxTailChunks = 2000;

interface Progress {
  scan: LogScan;
  /** The next byte to read. */
  end: number;
  isWhole: boolean;
}

/** Logs grow, and are asked for again and again: their bytes are read once. */
const recent = rememberRecent<Progress>(100);
const inOrder = openOrder();

/**
 * Reads the outline of a log from where the last one stopped, in the turns of the present owner.
 * @param needle a text to search for, or empty
 * @param maxBytes of the log that are read now
 */
export async function readOutline(
  db: Db,
  readable: ReadableLog,
  { needle = "", maxBytes }: { needle?: string; maxBytes: number },
): Promise<ReadOutline> {
  const name = `${nameOf(readable.log)} ${readable.isOpen} ${needle}`;
  return inOrder(name, async () => {
    const progress = recent.get(name) ?? { scan: new LogScan(needle), end: 0, isWhole: false };
    await advance(db, readable, progress, maxBytes);
    recent.set(name, progress);
    const { scan, end, isWhole } = progress;
    return { ...scan, bytes: end, isWhole };
  });
}

/** The outline of the last bytes of a log. Their first line, which may not be whole, is in it. */
export async function readOutlineOfEnd(db: Db, readable: ReadableLog): Promise<Outline> {
  const { log } = readable;
  const place = { before: Math.max(1, log.size - tailBytes), chunks: 1 };
  const byBytes = (await findStartOfChunkBefore(db, log, place)) ?? 0;
  const byChunks = await findStartOfChunkBefore(db, log, { before: log.size, chunks: maxTailChunks });
  const start = Math.max(byBytes, byChunks ?? 0);
  const scan = new LogScan("", await countLinesBefore(db, log, start));
  await advance(db, readable, { scan, end: start, isWhole: false }, Number.POSITIVE_INFINITY);
  return scan;
}

async function advance(db: Db, readable: ReadableLog, progress: Progress, maxBytes: number): Promise<void> {
  const { log, isOpen } = readable;
  if (progress.end >= log.size && (progress.isWhole || isOpen)) {
    progress.isWhole = true;
    return;
  }
  const slice = openSlices(scannedAtOnce);
  const stopAt = progress.end + maxBytes;
  let chunks = 0;
  progress.isWhole = false;
  for await (const { start, bytes, isRemark, arrivedAt } of readLog(db, readable, { from: progress.end })) {
    if (isRemark) continue;
    const rest = bytes.subarray(Math.max(0, progress.end - start));
    for (let from = 0; from < rest.length; from += scannedAtOnce) {
      const part = rest.subarray(from, from + scannedAtOnce);
      await slice(part.length);
      progress.scan.add(part, arrivedAt);
    }
    progress.end = start + bytes.length;
    if (progress.end < log.size && (progress.end >= stopAt || ++chunks >= maxChunks)) return;
  }
  if (!isOpen) progress.scan.end();
  progress.isWhole = true;
}
