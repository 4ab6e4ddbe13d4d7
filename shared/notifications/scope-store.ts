import { and, count, eq, inArray, isNull } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";

/** Counts those of these ids that are clusters of the organization. */
export async function countClustersOf(db: Db | Tx, organizationId: string, ids: string[]): Promise<number> {
  const { clusters } = db.tables;
  return countOf(db, clusters, organizationId, ids);
}

/** Counts those of these ids that are pipelines of the organization. */
export async function countPipelinesOf(db: Db | Tx, organizationId: string, ids: string[]): Promise<number> {
  const { pipelines } = db.tables;
  return countOf(db, pipelines, organizationId, ids);
}

async function countOf(
  db: Db | Tx,
  table: Db["tables"]["clusters"] | Db["tables"]["pipelines"],
  organizationId: string,
  ids: string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const [found] = await db
    .select({ count: count() })
    .from(table)
    .where(and(eq(table.organizationId, organizationId), inArray(table.id, ids), isNull(table.deletedAt)));
  return found?.count ?? 0;
}

/** The ids of pipelines, by their slugs. */
export async function listPipelineIdsBySlug(
  db: Db,
  organizationId: string,
  slugs: string[],
): Promise<Map<string, string>> {
  const { id, slug, organizationId: owner, deletedAt } = db.tables.pipelines;
  if (slugs.length === 0) return new Map();
  const found = await db
    .select({ id, slug })
    .from(db.tables.pipelines)
    .where(and(eq(owner, organizationId), inArray(slug, slugs), isNull(deletedAt)));
  return new Map(found.map((each) => [each.slug, each.id]));
}
