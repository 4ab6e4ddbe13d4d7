import { and, asc, eq, gt, gte, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/database.ts";
import { isOneOf, prepared, preparedRow } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import type { Pipeline } from "../store.ts";

/** The webhook of a pipeline's provider: a row among the triggers, which lists of triggers leave out. */
export type Webhook = Tables["triggers"]["$inferSelect"];

/** As the partial index says it: with a value in place of the column, no database would use the index. */
function isWebhook({ tables: { triggers } }: Reader | Tx): SQL | undefined {
  return and(sql`${triggers.isProvider}`, isNull(triggers.deletedAt));
}

export const findWebhook = preparedRow<{ pipelineId: string }, Webhook>((db) => {
  const { triggers } = db.tables;
  const isOfPipeline = eq(triggers.pipelineId, sql.placeholder("pipelineId"));
  return db
    .select()
    .from(triggers)
    .where(and(isOfPipeline, isWebhook(db)));
});

export type ListedWebhook = Pick<Webhook, "id" | "pipelineId" | "type" | "tokenSealed">;

/** The webhooks of some pipelines. */
export const listWebhooks = prepared<{ ids: string[] }, ListedWebhook>((db) => {
  const { triggers } = db.tables;
  const { id, pipelineId, type, tokenSealed } = triggers;
  return db
    .select({ id, pipelineId, type, tokenSealed })
    .from(triggers)
    .where(and(isOneOf(pipelineId, "ids"), isWebhook(db)));
});

export async function insertWebhook(tx: Tx, webhook: Webhook): Promise<void> {
  await tx.insert(tx.tables.triggers).values(webhook);
}

/** Makes cached ones stale. Undefined if deleted. */
export async function changeWebhook(
  tx: Tx,
  id: string,
  change: Partial<Webhook>,
): Promise<Webhook | undefined> {
  const { triggers } = tx.tables;
  const [changed] = await tx
    .update(triggers)
    .set({ ...change, version: sql`${triggers.version} + 1` })
    .where(and(eq(triggers.id, id), isNull(triggers.deletedAt)))
    .returning();
  return changed;
}

/** A place in the list of an organization's pipelines, oldest first. */
export type PlaceOfPipeline = Pick<Pipeline, "id" | "createdAt">;

/** The next pipelines of an organization, oldest first. */
export async function listPipelinesAfter(
  tx: Tx,
  organizationId: string,
  after: PlaceOfPipeline | undefined,
  limit: number,
): Promise<Pick<Pipeline, "id" | "createdAt" | "repository">[]> {
  const { pipelines } = tx.tables;
  const { id, createdAt, repository } = pipelines;
  const isBehind =
    after &&
    and(
      gte(createdAt, after.createdAt), // for the index
      or(gt(createdAt, after.createdAt), gt(id, after.id)),
    );
  return tx
    .select({ id, createdAt, repository })
    .from(pipelines)
    .where(and(eq(pipelines.organizationId, organizationId), isNull(pipelines.deletedAt), isBehind))
    .orderBy(asc(createdAt), asc(id))
    .limit(limit);
}

/** Locks pipelines alone: none of their builds is made meanwhile. */
export async function lockPipelinesAlone(tx: Tx, ids: string[]): Promise<Pipeline[]> {
  const { pipelines } = tx.tables;
  if (ids.length === 0) return [];
  return tx.lock(pipelines, and(inArray(pipelines.id, ids), isNull(pipelines.deletedAt)), "exclusive");
}

/** The next organizations, by their ids. */
export async function listOrganizationsAfter(
  db: Db | Tx,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const { organizations } = db.tables;
  const rows = await db
    .select({ id: organizations.id })
    .from(organizations)
    .where(after === undefined ? undefined : gt(organizations.id, after))
    .orderBy(asc(organizations.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}
