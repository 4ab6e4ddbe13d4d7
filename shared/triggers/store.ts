import { and, asc, desc, eq, getTableColumns, inArray, isNull, type SQL, sql } from "drizzle-orm";
import { type CursorPage, selectPage } from "../db/cursor-page.ts";
import type { Db, Reader, Tx } from "../db/database.ts";
import { countUpTo } from "../db/list-page.ts";
import { isOneOf, listBy, prepared, preparedRow } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";

export type Trigger = Tables["triggers"]["$inferSelect"];

const selectByToken = prepared((db: Db) => {
  const { triggers, pipelines, organizations } = db.tables;
  return db
    .select({
      trigger: triggers,
      repository: pipelines.repository,
      organizationId: organizations.id,
      deliveriesPerHour: organizations.deliveriesPerHour,
    })
    .from(triggers)
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .innerJoin(organizations, eq(organizations.id, pipelines.organizationId))
    .where(and(eq(triggers.tokenHash, sql.placeholder("tokenHash")), isNull(triggers.deletedAt)));
});

/** Also that of a provider. */
export async function findTriggerByToken(db: Db, tokenHash: string) {
  const [found] = await selectByToken(db, { tokenHash });
  return found;
}

const selectEnabled = prepared((tx: Tx) => {
  const { triggers } = tx.tables;
  return tx
    .select({
      id: triggers.id,
      version: triggers.version,
      isProvider: triggers.isProvider,
      hasFilter: sql<boolean>`${triggers.filter} is not null`.mapWith(Boolean),
    })
    .from(triggers)
    .where(and(isOneOf(triggers.id, "ids"), eq(triggers.enabled, true), isNull(triggers.deletedAt)));
});

/** Leaves out disabled and deleted triggers. */
export async function listEnabled(
  tx: Tx,
  ids: string[],
): Promise<Map<string, { version: number; isProvider: boolean; hasFilter: boolean }>> {
  const rows = await selectEnabled(tx, { ids });
  return new Map(rows.map((row) => [row.id, row]));
}

export const listTriggersById = listBy<Trigger, Tx>(({ triggers }) => triggers.id);

export const findTrigger = preparedRow<{ pipelineId: string; id: string }, Trigger>((db) => {
  const { triggers } = db.tables;
  const isOfPipeline = eq(triggers.pipelineId, sql.placeholder("pipelineId"));
  return db
    .select()
    .from(triggers)
    .where(and(eq(triggers.id, sql.placeholder("id")), isOfPipeline, isListed(db)));
});

/** Leaves out deleted triggers, and the webhooks of providers (shared/pipelines/provider). */
function isListed({ tables: { triggers } }: Reader | Tx): SQL | undefined {
  return and(isNull(triggers.deletedAt), eq(triggers.isProvider, false));
}

/** Undefined if deleted. */
export async function lockTrigger(tx: Tx, pipelineId: string, id: string): Promise<Trigger | undefined> {
  const { triggers } = tx.tables;
  const isPresent = and(eq(triggers.id, id), eq(triggers.pipelineId, pipelineId), isListed(tx));
  return (await tx.lock(triggers, isPresent, "exclusive"))[0];
}

/** In any organization. */
export async function findTriggerWithOwners(db: Db, id: string) {
  const { triggers, pipelines, organizations } = db.tables;
  const [found] = await db
    .select({ trigger: triggers, pipeline: pipelines, organization: organizations })
    .from(triggers)
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .innerJoin(organizations, eq(organizations.id, pipelines.organizationId))
    .where(and(eq(triggers.id, id), isListed(db)));
  return found;
}

/** Deleted or not. Also that of a provider. */
export async function findTriggerNameOfDelivery(
  db: Db,
  deliveryId: string,
): Promise<Pick<Trigger, "id" | "label" | "isProvider" | "deletedAt"> | undefined> {
  const { triggers, deliveries } = db.tables;
  const { id, label, isProvider, deletedAt } = triggers;
  const [found] = await db
    .select({ id, label, isProvider, deletedAt })
    .from(deliveries)
    .innerJoin(triggers, eq(id, deliveries.triggerId))
    .where(eq(deliveries.id, deliveryId));
  return found;
}

/** Deleted or not. */
export async function hasTriggerId(tx: Tx, id: string): Promise<boolean> {
  const { triggers } = tx.tables;
  const found = await tx.select({ id: triggers.id }).from(triggers).where(eq(triggers.id, id));
  return found.length > 0;
}

export async function listTriggersOfPipeline(db: Db | Tx, pipelineId: string): Promise<Trigger[]> {
  const { triggers } = db.tables;
  return db
    .select()
    .from(triggers)
    .where(and(eq(triggers.pipelineId, pipelineId), isListed(db)))
    .orderBy(asc(triggers.id));
}

/** A trigger as lists show it: without its filter, its variables and its secret. */
export type ListedTrigger = Omit<Trigger, "filter" | "environmentSealed" | "secretSealed" | "tokenSealed"> & {
  hasSecret: boolean;
};

/** Newest first. */
export async function listTriggersInBrief(
  db: Db,
  pipelineId: string,
  limit: number,
): Promise<ListedTrigger[]> {
  const { triggers } = db.tables;
  const columns = getTableColumns(triggers);
  const { filter: _, environmentSealed: __, secretSealed: ___, tokenSealed: ____, ...facts } = columns;
  return db
    .select({ ...facts, hasSecret: sql`${triggers.secretSealed} is not null`.mapWith(Boolean) })
    .from(triggers)
    .where(and(eq(triggers.pipelineId, pipelineId), isListed(db)))
    .orderBy(desc(triggers.id))
    .limit(limit);
}

export function countTriggers(tx: Tx, pipelineId: string, limit: number): Promise<number> {
  const { triggers } = tx.tables;
  const ofPipeline = and(eq(triggers.pipelineId, pipelineId), isListed(tx));
  return countUpTo(tx, triggers, ofPipeline, limit);
}

export async function listTriggersPage(db: Db, pipelineId: string, page: CursorPage): Promise<Trigger[]> {
  const { triggers } = db.tables;
  return selectPage(triggers.id, page, ({ condition, order, limit }) =>
    db
      .select()
      .from(triggers)
      .where(and(eq(triggers.pipelineId, pipelineId), isListed(db), condition))
      .orderBy(order)
      .limit(limit),
  );
}

export type TriggerWithPipeline = Pick<Trigger, "id" | "type" | "label" | "isProvider" | "deletedAt"> &
  Pick<Tables["pipelines"]["$inferSelect"], "name" | "slug" | "branchConfiguration" | "providerSettings">;

/** Triggers and their pipelines, deleted or not, by the triggers' ids. */
export async function listPipelinesOfTriggers(
  db: Db,
  ids: string[],
): Promise<Map<string, TriggerWithPipeline>> {
  const { triggers, pipelines } = db.tables;
  if (ids.length === 0) return new Map();
  const rows: TriggerWithPipeline[] = await db
    .select({
      id: triggers.id,
      type: triggers.type,
      label: triggers.label,
      isProvider: triggers.isProvider,
      name: pipelines.name,
      slug: pipelines.slug,
      branchConfiguration: pipelines.branchConfiguration,
      providerSettings: pipelines.providerSettings,
      deletedAt: triggers.deletedAt,
    })
    .from(triggers)
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .where(inArray(triggers.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

const triggersAtOnce = 500;

/** The organizations of triggers, deleted or not, by the triggers' ids. */
export async function listOrganizationsOfTriggers(db: Reader, ids: string[]): Promise<Map<string, string>> {
  const { triggers, pipelines } = db.tables;
  const organizations = new Map<string, string>();
  for (let at = 0; at < ids.length; at += triggersAtOnce) {
    const rows = await db
      .select({ id: triggers.id, organizationId: pipelines.organizationId })
      .from(triggers)
      .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
      .where(inArray(triggers.id, ids.slice(at, at + triggersAtOnce)));
    for (const { id, organizationId } of rows) organizations.set(id, organizationId);
  }
  return organizations;
}

export async function insertTrigger(tx: Tx, trigger: Trigger): Promise<void> {
  await tx.insert(tx.tables.triggers).values(trigger);
}

/** Makes cached triggers stale. Undefined if deleted. */
export async function updateIfPresent(
  tx: Tx,
  id: string,
  change: Partial<Trigger> & Pick<Trigger, "updatedAt" | "updatedById">,
): Promise<Trigger | undefined> {
  const { triggers } = tx.tables;
  const [changed] = await tx
    .update(triggers)
    .set({ ...change, version: sql`${triggers.version} + 1` })
    .where(and(eq(triggers.id, id), isNull(triggers.deletedAt)))
    .returning();
  return changed;
}
