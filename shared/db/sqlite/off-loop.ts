import { drizzle } from "drizzle-orm/sqlite-proxy";
import { openThread } from "../../process/thread.ts";
import { resources } from "../../sharing/bounds.ts";
import { openTurns, takeOwnTurn } from "../../sharing/turns.ts";
import type { Reader } from "../database.ts";
import type { Tables } from "../schema.ts";
import { refuseInsideTransaction } from "../transaction-guard.ts";
import type { Read, ReadResult } from "./off-loop-thread.ts";

/** While one runs, the next one waits in the thread, and one more if a newcomer sends it. */
const readsAtOnce = 3;

/**
 * Reads a SQLite file in a thread, one query after the other. Owners take turns. The thread starts with the first query.
 */
export function openOffLoop(file: string, tables: Tables): Reader & { close(): Promise<void> } {
  const thread = openThread<Read, ReadResult>(new URL("./off-loop-thread.ts", import.meta.url));
  const turns = openTurns({ ...resources.longReads, max: readsAtOnce });
  const reads = drizzle(async (query, parameters) => {
    const result = await takeOwnTurn(turns, () => thread.request({ file, query, parameters }));
    if ("rows" in result) return result;
    throw Object.assign(new Error(result.failure.message), { code: result.failure.code });
  });
  return {
    tables,
    select: ((...fields: Parameters<typeof reads.select>) => {
      refuseInsideTransaction("A read off the loop");
      return reads.select(...fields);
    }) as unknown as Reader["select"],
    close: () => thread.close(),
  };
}
