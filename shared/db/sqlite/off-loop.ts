import { drizzle } from "drizzle-orm/sqlite-proxy";
import { Threads } from "../../process/threads.ts";
import { resources } from "../../sharing/bounds.ts";
import { countWait } from "../../sharing/present-turn.ts";
import { openTurns, takeOwnTurn } from "../../sharing/turns.ts";
import type { Reader } from "../database.ts";
import type { Tables } from "../schema.ts";
import { refuseInsideTransaction } from "../transaction-guard.ts";
import { hideValues } from "./hide-values.ts";
import type { read } from "./off-loop-read.ts";

/** While one runs, the next one waits for the thread, and one more if a newcomer sends it. */
const readsAtOnce = 3;

/**
 * Reads a SQLite file in a thread, one query after the other. Owners take turns. The thread starts with the first query.
 */
export function openOffLoop(file: string, tables: Tables): Reader & { close(): Promise<void> } {
  const thread = new Threads({ max: 1, handleWait: countWait });
  const readInThread = thread.wrap<typeof read>(new URL("./off-loop-read.ts", import.meta.url), "read");
  const turns = openTurns({ ...resources.longReads, max: readsAtOnce });
  const database = drizzle(async (query, parameters) => {
    const result = await takeOwnTurn(turns, () => readInThread({ file, query, parameters }));
    if ("rows" in result) return result;
    throw Object.assign(new Error(result.failure.message), { code: result.failure.code });
  });
  const reads = hideValues(database);
  return {
    tables,
    select: ((...fields: Parameters<typeof reads.select>) => {
      refuseInsideTransaction("A read off the loop");
      return reads.select(...fields);
    }) as unknown as Reader["select"],
    close: () => thread.close(),
  };
}
