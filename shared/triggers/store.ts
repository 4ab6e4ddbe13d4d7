import { and, asc, eq, inArray, isNotNull, isNull, lt, lte, sql, sum } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { DeliveryReason, DeliveryStatus, Tables } from "../db/schema.ts";

export type Trigger = Tables["triggers"]["$inferSelect"];
export type Delivery = Tables["deliveries"]["$inferSelect"];
export type Payload = Tables["payloads"]["$inferSelect"];
type IdempotencyKey = Tables["idempotencyKeys"]["$inferSelect"];

/** The trigger that a token leads to, with what a delivery must know of its organization. */
export async function findTriggerByToken(db: Db, tokenHash: string) {
  const { triggers, pipelines, organizations } = db.tables;
  const [found] = await db
    .select({
      trigger: triggers,
      organizationId: organizations.id,
      deliveriesPerHour: organizations.deliveriesPerHour,
    })
    .from(triggers)
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .innerJoin(organizations, eq(organizations.id, pipelines.organizationId))
    .where(and(eq(triggers.tokenHash, tokenHash), isNull(triggers.deletedAt)));
  return found;
}

/** The versions of those of these triggers that accept deliveries now. */
export async function listEnabledVersions(tx: Tx, ids: string[]): Promise<Map<string, number>> {
  const { triggers } = tx.tables;
  const rows = await tx
    .select({ id: triggers.id, version: triggers.version })
    .from(triggers)
    .where(and(inArray(triggers.id, ids), eq(triggers.enabled, true), isNull(triggers.deletedAt)));
  return new Map(rows.map((row) => [row.id, row.version]));
}

export async function listTriggersById(tx: Tx, ids: string[]): Promise<Trigger[]> {
  return tx.select().from(tx.tables.triggers).where(inArray(tx.tables.triggers.id, ids));
}

export async function findOrganizationOfTrigger(tx: Tx, id: string) {
  const { triggers, pipelines, organizations } = tx.tables;
  const [found] = await tx
    .select({ organization: organizations })
    .from(triggers)
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .innerJoin(organizations, eq(organizations.id, pipelines.organizationId))
    .where(eq(triggers.id, id));
  return found?.organization;
}

export async function listTriggersOfPipeline(db: Db | Tx, pipelineId: string): Promise<Trigger[]> {
  const { triggers } = db.tables;
  return db
    .select()
    .from(triggers)
    .where(and(eq(triggers.pipelineId, pipelineId), isNull(triggers.deletedAt)))
    .orderBy(asc(triggers.id));
}

/** What the pipelines of these triggers are called, by the triggers' ids; of deleted ones too. */
export async function listPipelineNamesOfTriggers(db: Db, ids: string[]): Promise<Map<string, string>> {
  const { triggers, pipelines } = db.tables;
  const rows = await db
    .select({ id: triggers.id, name: pipelines.name })
    .from(triggers)
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .where(inArray(triggers.id, ids));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function insertTrigger(tx: Tx, trigger: Trigger): Promise<void> {
  await tx.insert(tx.tables.triggers).values(trigger);
}

/** Change a trigger that is not deleted; its version rises, which every process notices. */
export async function updateIfPresent(
  tx: Tx,
  id: string,
  change: Partial<Pick<Trigger, "enabled" | "deletedAt">> & Pick<Trigger, "updatedAt" | "updatedById">,
): Promise<Trigger | undefined> {
  const { triggers } = tx.tables;
  const [changed] = await tx
    .update(triggers)
    .set({ ...change, version: sql`${triggers.version} + 1` })
    .where(and(eq(triggers.id, id), isNull(triggers.deletedAt)))
    .returning();
  return changed;
}

/** All triggers of a pipeline, with the versions that processes know them by. */
export async function deleteTriggersOfPipeline(
  tx: Tx,
  pipelineId: string,
  { now, userId }: { now: Date; userId: string },
): Promise<void> {
  const { triggers } = tx.tables;
  await tx
    .update(triggers)
    .set({ deletedAt: now, updatedAt: now, updatedById: userId, version: sql`${triggers.version} + 1` })
    .where(and(eq(triggers.pipelineId, pipelineId), isNull(triggers.deletedAt)));
}

export async function findIdempotencyKey(
  db: Db | Tx,
  triggerId: string,
  key: string,
): Promise<IdempotencyKey | undefined> {
  const { idempotencyKeys } = db.tables;
  const [found] = await db
    .select()
    .from(idempotencyKeys)
    .where(and(eq(idempotencyKeys.triggerId, triggerId), eq(idempotencyKeys.key, key)));
  return found;
}

/** Take a key that nobody has, or whose time is over. Of racing takers exactly one gets it. */
export async function claimKeyIfFree(tx: Tx, claim: IdempotencyKey, freeSince: Date): Promise<boolean> {
  const { idempotencyKeys } = tx.tables;
  const claimed = await tx
    .insert(idempotencyKeys)
    .values(claim)
    .onConflictDoUpdate({
      target: [idempotencyKeys.triggerId, idempotencyKeys.key],
      set: { deliveryId: claim.deliveryId, createdAt: claim.createdAt },
      setWhere: lte(idempotencyKeys.createdAt, freeSince),
    })
    .returning();
  return claimed.length > 0;
}

/** Keys taken before a time; those of at most `limit` different times. Returns how many went. */
export async function deleteIdempotencyKeysBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { idempotencyKeys } = tx.tables;
  const old = tx
    .select({ createdAt: idempotencyKeys.createdAt })
    .from(idempotencyKeys)
    .where(lt(idempotencyKeys.createdAt, time))
    .orderBy(asc(idempotencyKeys.createdAt))
    .limit(limit);
  const gone = await tx
    .delete(idempotencyKeys)
    .where(inArray(idempotencyKeys.createdAt, old))
    .returning({ key: idempotencyKeys.key });
  return gone.length;
}

/** waiting → decided. A delivery that is decided already is not returned: its job ran before. */
export async function decideIfWaiting(tx: Tx, ids: string[], status: DeliveryStatus): Promise<Delivery[]> {
  const { deliveries } = tx.tables;
  return tx
    .update(deliveries)
    .set({ status })
    .where(and(inArray(deliveries.id, ids), isNull(deliveries.status)))
    .returning();
}

/** Change the outcome within the transaction that decided it. */
export async function setOutcome(
  tx: Tx,
  ids: string[],
  outcome: { status: DeliveryStatus; reason: DeliveryReason },
): Promise<void> {
  await tx.update(tx.tables.deliveries).set(outcome).where(inArray(tx.tables.deliveries.id, ids));
}

/** Waiting deliveries whose job was sent before `sentBefore`, marked as sent anew; at most `limit`. */
export async function reclaimStranded(tx: Tx, sentBefore: Date, now: Date, limit: number): Promise<string[]> {
  const { deliveries } = tx.tables;
  const stranded = await tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(isNull(deliveries.status), lt(deliveries.enqueuedAt, sentBefore)))
    .orderBy(asc(deliveries.enqueuedAt))
    .limit(limit);
  if (stranded.length === 0) return [];
  const ids = stranded.map((row) => row.id);
  const reclaimed = await tx
    .update(deliveries)
    .set({ enqueuedAt: now })
    .where(and(inArray(deliveries.id, ids), isNull(deliveries.status), lt(deliveries.enqueuedAt, sentBefore)))
    .returning({ id: deliveries.id });
  return reclaimed.map((row) => row.id).sort();
}

export async function findPayload(db: Db, deliveryId: string): Promise<Payload | undefined> {
  const { payloads } = db.tables;
  const [found] = await db.select().from(payloads).where(eq(payloads.deliveryId, deliveryId));
  return found;
}

export async function hasPayload(db: Db, deliveryId: string): Promise<boolean> {
  const { payloads } = db.tables;
  const found = await db
    .select({ id: payloads.deliveryId })
    .from(payloads)
    .where(eq(payloads.deliveryId, deliveryId));
  return found.length > 0;
}

/** Decided deliveries' payloads with ids below this one, oldest first. */
export async function listPayloadsBelow(db: Db, id: string, limit: number) {
  const { payloads, deliveries } = db.tables;
  return db
    .select({ deliveryId: payloads.deliveryId, size: payloads.size })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(and(lt(payloads.deliveryId, id), isNotNull(deliveries.status)))
    .orderBy(asc(payloads.deliveryId))
    .limit(limit);
}

/** Bytes of payload that each organization keeps. */
export async function sumPayloadBytes(db: Db): Promise<{ organizationId: string; bytes: number }[]> {
  const { payloads } = db.tables;
  const rows = await db
    .select({ organizationId: payloads.organizationId, bytes: sum(payloads.size).mapWith(Number) })
    .from(payloads)
    .groupBy(payloads.organizationId);
  return rows.map((row) => ({ organizationId: row.organizationId, bytes: row.bytes ?? 0 }));
}

/** The oldest payloads of an organization that may be evicted. */
export async function listOldestPayloads(db: Db, organizationId: string, limit: number) {
  const { payloads, deliveries } = db.tables;
  return db
    .select({ deliveryId: payloads.deliveryId, size: payloads.size })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(and(eq(payloads.organizationId, organizationId), isNotNull(deliveries.status)))
    .orderBy(asc(payloads.deliveryId))
    .limit(limit);
}

export async function deletePayloads(tx: Tx, deliveryIds: string[]): Promise<void> {
  await tx.delete(tx.tables.payloads).where(inArray(tx.tables.payloads.deliveryId, deliveryIds));
}

/** Decided deliveries with ids below this one, with their payloads; at most `limit`. */
export async function deleteDeliveriesBelow(tx: Tx, id: string, limit: number): Promise<number> {
  const { deliveries } = tx.tables;
  const old = tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(lt(deliveries.id, id), isNotNull(deliveries.status)))
    .limit(limit);
  const gone = await tx
    .delete(deliveries)
    .where(inArray(deliveries.id, old))
    .returning({ id: deliveries.id });
  return gone.length;
}
