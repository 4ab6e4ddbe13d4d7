import { open } from "node:fs/promises";
import { join } from "node:path";
import { logChunk } from "./log-chunks.ts";
import type { Orders } from "./orders.ts";

/** Appends the bodies of chunks to a file for each job, and syncs the files at the end. */
export async function writeFiles(
  dir: string,
  { jobs, parallel, seconds }: Orders["sendLogs"]["request"],
): Promise<Orders["sendLogs"]["report"]> {
  let bytes = 0;
  const startedAt = performance.now();
  const secondsPassed = () => (performance.now() - startedAt) / 1000;
  const write = async (job: number) => {
    await using file = await open(join(dir, `job-${job}.log`), "w");
    let sequence = 0;
    const append = async () => {
      while (secondsPassed() < seconds) {
        const chunk = logChunk(sequence++);
        await file.appendFile(chunk.body);
        bytes += chunk.size;
      }
    };
    await Promise.all(Array.from({ length: parallel }, append));
    await file.datasync();
  };
  await Promise.all(Array.from({ length: jobs }, (_, job) => write(job)));
  return { bytes, seconds: secondsPassed() };
}
