import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import { sizeOfStep } from "../rows/build-store.ts";
import { firstOfStep } from "../rows/job-store.ts";
import { type AnsweredJobs, isAnswered, type JobSize } from "./answer-store.ts";

export interface JobPageFilter extends AnsweredJobs {
  stepKey?: string | undefined;
  groupKey?: string | undefined;
}

/** At most one of the two ids is set. */
export interface JobPage {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

/**
 * A page of a build's jobs in the order of its steps, and one more at the far end if there is one. Positions change when
 * jobs are uploaded: the page starts where its job is now.
 */
export async function listJobsOfPage(
  db: Db,
  buildId: string,
  { limit, after, before }: JobPage,
  filter: JobPageFilter,
): Promise<JobSize[]> {
  const { jobs } = db.tables;
  const first = firstOfStep(db);
  const from = after ?? before;
  const order = before ? desc : asc;
  const rows = await db.offLoop
    .select({ id: jobs.id, bytes: sizeOfStep(db).mapWith(Number) })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .where(
      and(
        eq(jobs.buildId, buildId),
        isAnswered(db, filter),
        from === undefined ? undefined : isBeyond(db, from, before ? "<" : ">"),
        hasKeys(db, filter),
      ),
    )
    .orderBy(order(jobs.position), order(jobs.id))
    .limit(limit + 1);
  return before ? rows.reverse() : rows;
}

function isBeyond({ tables: { jobs } }: Db, id: string, comparison: "<" | ">"): SQL {
  const place = sql`select ${jobs.position}, ${jobs.id} from ${jobs} where ${jobs.id} = ${id}`;
  return sql`(${jobs.position}, ${jobs.id}) ${sql.raw(comparison)} (${place})`;
}

/** Looks at the options of each job that is left. */
function hasKeys(db: Db, { stepKey, groupKey }: JobPageFilter): SQL | undefined {
  const options = sql`coalesce(${firstOfStep(db).table.ownOptions}, ${db.tables.jobs.ownOptions})`;
  return and(
    stepKey === undefined ? undefined : sql`${options} ->> 'key' = ${stepKey}`,
    groupKey === undefined ? undefined : sql`${options} -> 'group' ->> 'key' = ${groupKey}`,
  );
}
