import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSize } from "../database.ts";

export async function measureSqlite(file: string): Promise<DatabaseSize> {
  const [main, log, disk] = await Promise.all([
    stat(file),
    stat(`${file}-wal`).catch(() => undefined), // gone until the first write
    statfs(dirname(file)),
  ]);
  return { bytes: main.size, logBytes: log?.size ?? 0, freeBytes: disk.bavail * disk.bsize };
}
