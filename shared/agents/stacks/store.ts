import { and, asc, eq, gt, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { listCreated } from "../../db/list-page.ts";
import { listBy, preparedRow } from "../../db/prepared.ts";
import { countRows, deleteRows, findRow } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";

// | state     | when                                                             |
// |-----------|------------------------------------------------------------------|
// | connected | registered, and heard within five minutes                        |
// | lost      | silent for longer. Its next call makes it connected again        |
// | none      | it deregistered, was lost for a day, or made room for another one |

export type Stack = Tables["stacks"]["$inferSelect"];

export const findStackByKey = preparedRow<{ clusterId: string; key: string }, Stack>((db) => {
  const { stacks } = db.tables;
  return db
    .select()
    .from(stacks)
    .where(and(eq(stacks.clusterId, sql.placeholder("clusterId")), eq(stacks.key, sql.placeholder("key"))));
});

/** A stack of the organization. */
export function findStack(db: Db, organizationId: string, id: string): Promise<Stack | undefined> {
  const { stacks } = db.tables;
  return findRow(db, stacks, and(eq(stacks.id, id), eq(stacks.organizationId, organizationId)));
}

export function findStackById(db: Db | Tx, id: string): Promise<Stack | undefined> {
  return findRow(db, db.tables.stacks, eq(db.tables.stacks.id, id));
}

export const listStacksById = listBy<Stack, Db>(({ stacks }) => stacks.id);

export interface StackFilter {
  organizationId: string;
  clusterId?: string | undefined;
}

/** Connected and lost stacks, oldest first. An organization has few. */
export const listStacksPage = listCreated<StackFilter, Stack>(({ tables: { stacks } }, given) => ({
  table: stacks,
  where: and(
    eq(stacks.organizationId, sql.placeholder("organizationId")),
    given.has("clusterId") ? eq(stacks.clusterId, sql.placeholder("clusterId")) : undefined,
  ),
}));

export async function insertStack(tx: Tx, stack: Stack): Promise<void> {
  await tx.insert(tx.tables.stacks).values(stack);
}

export async function updateStack(tx: Tx, id: string, change: Partial<Stack>): Promise<Stack | undefined> {
  const { stacks } = tx.tables;
  const [updated] = await tx.update(stacks).set(change).where(eq(stacks.id, id)).returning();
  return updated;
}

/** lost → connected. A connected one that was heard since `before` is left alone. */
export async function seeIfUnheard(tx: Tx, id: string, { before, now }: Record<"before" | "now", Date>) {
  const { stacks } = tx.tables;
  const isUnheard = or(isNotNull(stacks.lostAt), lt(stacks.seenAt, before), gt(stacks.seenAt, now));
  return tx
    .update(stacks)
    .set({ seenAt: now, lostAt: null })
    .where(and(eq(stacks.id, id), isUnheard))
    .returning({ id: stacks.id });
}

/** Locks the stack against its end. Undefined: it is gone, or lost. */
export async function lockStackIfConnected(tx: Tx, id: string): Promise<Stack | undefined> {
  const { stacks } = tx.tables;
  const [locked] = await tx.lock(stacks, and(eq(stacks.id, id), isNull(stacks.lostAt)), "exclusive");
  return locked;
}

/** Connected stacks that were heard before a time only. */
export async function listUnheardStacks(db: Db, before: Date, limit: number): Promise<Stack[]> {
  const { stacks } = db.tables;
  return db
    .select()
    .from(stacks)
    .where(and(isNull(stacks.lostAt), lt(stacks.seenAt, before)))
    .orderBy(asc(stacks.lostAt), asc(stacks.seenAt)) // as in the index
    .limit(limit);
}

/** connected → lost. */
export async function loseIfUnheard(tx: Tx, id: string, before: Date): Promise<Stack | undefined> {
  const { stacks } = tx.tables;
  const [lost] = await tx
    .update(stacks)
    .set({ lostAt: tx.now })
    .where(and(eq(stacks.id, id), isNull(stacks.lostAt), lt(stacks.seenAt, before)))
    .returning();
  return lost;
}

export async function deleteStack(tx: Tx, id: string): Promise<boolean> {
  const { stacks } = tx.tables;
  const deleted = await tx.delete(stacks).where(eq(stacks.id, id)).returning({ id: stacks.id });
  return deleted.length > 0;
}

export function deleteStacksLostBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { id, lostAt } = tx.tables.stacks;
  return deleteRows(tx, { key: id, where: lt(lostAt, time), oldestBy: lostAt }, limit);
}

/** Counts the stacks of an organization: the connected ones, or all. */
export function countStacks(tx: Tx, organizationId: string, only: "connected" | "all"): Promise<number> {
  const { stacks } = tx.tables;
  const isCounted = only === "connected" ? isNull(stacks.lostAt) : undefined;
  return countRows(tx, stacks, and(eq(stacks.organizationId, organizationId), isCounted));
}

/** The stack of an organization that was lost first. */
export async function findFirstLost(tx: Tx, organizationId: string): Promise<Stack | undefined> {
  const { stacks } = tx.tables;
  const [found] = await tx
    .select()
    .from(stacks)
    .where(and(eq(stacks.organizationId, organizationId), isNotNull(stacks.lostAt)))
    .orderBy(asc(stacks.lostAt))
    .limit(1);
  return found;
}
