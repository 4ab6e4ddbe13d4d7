import { and, asc, eq, gt, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/database.ts";
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

/** One statement looks into this many, so that others get their turn. */
const pipelinesAtOnce = 20;

/** Takes long: call it outside of transactions. */
export async function listDependents(db: Db, dependents: Dependents): Promise<NamedPipeline[]> {
  const found: NamedPipeline[] = [];
  for (let after: string | undefined; ; ) {
    const slice = await listSlice(db.offLoop, dependents, after);
    found.push(...slice.flatMap(({ depends, ...pipeline }) => (depends ? pipeline : [])));
    if (slice.length < pipelinesAtOnce) return found;
    after = slice.at(-1)?.id;
  }
}

/** Pipelines of the cluster in the order of their ids. */
function listSlice(db: Reader, { clusterId, queueKey }: Dependents, after: string | undefined) {
  const { pipelines } = db.tables;
  const { id, slug, name } = pipelines;
  const isNext = after === undefined ? undefined : gt(id, after);
  const ids = db
    .select({ id })
    .from(pipelines)
    .where(and(eq(pipelines.clusterId, clusterId), isNull(pipelines.deletedAt), isNext))
    .orderBy(asc(id))
    .limit(pipelinesAtOnce);
  const hasStep = queueKey === undefined ? sql`1 = 1` : hasStepOf(db, queueKey);
  const depends = sql<number>`case when ${hasStep} then 1 else 0 end`.mapWith(Number);
  return db.select({ id, slug, name, depends }).from(pipelines).where(inArray(id, ids)).orderBy(asc(id));
}

/** A wait has a type, and no queue. */
function hasStepOf({ tables: { pipelines } }: Reader, queueKey: string | null): SQL {
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

/** Call with the cluster locked, when a pipeline of it is made, moved there or gets other steps. */
export async function raiseStepsVersion(tx: Tx, clusterId: string): Promise<void> {
  const { clusters } = tx.tables;
  await tx
    .update(clusters)
    .set({ stepsVersion: sql`${clusters.stepsVersion} + 1` })
    .where(eq(clusters.id, clusterId));
}
