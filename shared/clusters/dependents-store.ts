import { and, asc, count, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/database.ts";
import { isPostgres } from "../db/prepared.ts";

// Pipelines that need a cluster or one of its queues. The database looks into their steps, which may have a megabyte.

/** Pipelines of the cluster, or only those with a step of the queue; null: with a step that names no queue. */
export interface Dependents {
  clusterId: string;
  queueKey?: string | null;
}

export interface NamedPipeline {
  id: string;
  slug: string;
  name: string;
}

export async function countDependents(db: Reader | Tx, dependents: Dependents): Promise<number> {
  const [row] = await db.select({ total: count() }).from(db.tables.pipelines).where(dependOn(db, dependents));
  return row?.total ?? 0;
}

/** The first of them by name. */
export async function listDependents(
  db: Reader | Tx,
  dependents: Dependents,
  limit: number,
): Promise<NamedPipeline[]> {
  const { pipelines } = db.tables;
  const { id, slug, name } = pipelines;
  return db
    .select({ id, slug, name })
    .from(pipelines)
    .where(dependOn(db, dependents))
    .orderBy(asc(sql`lower(${name})`), asc(id))
    .limit(limit);
}

function dependOn(db: Reader | Tx, { clusterId, queueKey }: Dependents): SQL | undefined {
  const { pipelines } = db.tables;
  const ofCluster = and(eq(pipelines.clusterId, clusterId), isNull(pipelines.deletedAt));
  return queueKey === undefined ? ofCluster : and(ofCluster, hasStepOf(db, queueKey));
}

/** A wait has a type, and no queue. */
function hasStepOf({ tables: { pipelines } }: Reader | Tx, queueKey: string | null): SQL {
  const { steps } = pipelines;
  const condition = (member: (path: string) => SQL) =>
    queueKey === null
      ? sql`${member("type")} is null and ${member("agents.queue")} is null`
      : sql`${member("agents.queue")} = ${queueKey}`;
  if (isPostgres(steps)) {
    const member = (path: string) => sql`step #>> ${sql.raw(`'{${path.replace(".", ",")}}'`)}`;
    return sql`exists (select 1 from json_array_elements(${steps}) as step where ${condition(member)})`;
  }
  const member = (path: string) => sql`json_extract(step.value, ${sql.raw(`'$.${path}'`)})`;
  return sql`exists (select 1 from json_each(${steps}) as step where ${condition(member)})`;
}
