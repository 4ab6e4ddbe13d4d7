import { sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Tables } from "../db/schema.ts";

// Exit statuses have 32 bits. Most programs read them as signed numbers, Windows and its programs as unsigned ones. The
// first columns for them have 32 bits with a sign, so that others take what is beyond.
//
// | exit status    | narrow column | wide column |
// |----------------|---------------|-------------|
// | below 2^31 - 1 | itself        | null        |
// | from there on  | 2^31 - 1      | itself      |

const widest = 2 ** 31 - 1;

/** Reads the exit statuses of jobs. A process of a former release leaves the wide columns as they are. */
export function statusColumns({ jobs }: Pick<Tables, "jobs">) {
  const read = (narrow: SQLiteColumn, wide: SQLiteColumn) => {
    const isWide = sql`${narrow} = ${sql.raw(`${widest}`)}`;
    const status = sql<
      number | null
    >`case when ${isWide} then coalesce(${wide}, ${narrow}) else ${narrow} end`;
    return status.mapWith((found): number | null => (found === null ? null : Number(found)));
  };
  return {
    exitStatus: read(jobs.exitStatus, jobs.wideExitStatus),
    promisedExitStatus: read(jobs.promisedExitStatus, jobs.widePromisedExitStatus),
  };
}

/** The two columns of an exit status. */
export function storedStatus(status: number): { narrow: number; wide: number | null } {
  return status < widest ? { narrow: status, wide: null } : { narrow: widest, wide: status };
}
