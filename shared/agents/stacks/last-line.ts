import type { Tx } from "../../db/database.ts";
import { hourOf } from "../../durations.ts";
import { addToTotals } from "../../retention/totals-store.ts";
import { insertChunks } from "../logs/chunk-store.ts";
import { deflate } from "../logs/inflate.ts";
import { countLineFeeds } from "../logs/lines.ts";
import { type LogLease, sequenceAt } from "../logs/place.ts";
import { findLog, putLogs } from "../logs/store.ts";
import { rowBytes } from "../logs/write.ts";

/** The line that the server adds to the log of a job that it ends. */
export interface LastLine {
  size: number;
  lines: number;
  /** Gzip. */
  body: Buffer;
}

/** Call it before the transaction: it compresses the text. */
export async function lastLine(organizationId: string, text: string): Promise<LastLine> {
  const bytes = Buffer.from(`${text.replaceAll(/\r?\n/g, "\r\n")}\r\n`);
  return { size: bytes.length, lines: countLineFeeds(bytes), body: await deflate(organizationId, bytes) };
}

/** Adds to the end of a log. Call it before `closeLog`: the log of an earlier attempt may be closed already. */
export async function writeLastLine(
  tx: Tx,
  { jobId, attempt, organizationId }: Pick<LogLease, "jobId" | "attempt" | "organizationId">,
  { size, lines, body }: LastLine,
): Promise<void> {
  const log = await findLog(tx, { jobId, attempt });
  if (log?.evictedAt) return;
  const start = log?.size ?? 0;
  await putLogs(tx, [
    {
      jobId,
      attempt,
      organizationId,
      createdAt: log?.createdAt ?? tx.now,
      size: start + size,
      storedBytes: (log?.storedBytes ?? 0) + body.length + rowBytes,
      droppedBytes: log?.droppedBytes ?? 0,
      isCounted: false,
      evictedAt: null,
    },
  ]);
  const sequence = sequenceAt(start);
  await insertChunks(tx, [{ jobId, attempt, sequence, start, size, lines, body, arrivedAt: tx.now }]);
  if (log?.isCounted)
    await addToTotals(tx, tx.tables.logTotals, hourOf(log.createdAt), [
      { organizationId, bytes: body.length + rowBytes },
    ]);
}
