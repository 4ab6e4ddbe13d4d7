import { and, asc, eq, inArray, isNotNull, lt, type SQL, sum } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import type { StoredHeader } from "../../vocabulary.ts";
import { decodeBody, type EncodedBody } from "./codec.ts";

export interface EncodedPayload {
  deliveryId: string;
  headers: StoredHeader[];
  body: EncodedBody;
}

export interface Payload {
  headers: StoredHeader[];
  /** The bytes as received. */
  body: Buffer;
}

export async function findPayload(db: Db, deliveryId: string): Promise<Payload | undefined> {
  const [found] = await listEncodedPayloads(db, [deliveryId]);
  return found && { headers: found.headers, body: await decodeBody(found.body) };
}

export async function listEncodedPayloads(db: Db, deliveryIds: string[]): Promise<EncodedPayload[]> {
  const { payloads, deliveries } = db.tables;
  return db
    .select({
      deliveryId: payloads.deliveryId,
      headers: payloads.headers,
      body: { codec: payloads.codec, bytes: payloads.body, size: deliveries.size },
    })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(inArray(payloads.deliveryId, deliveryIds));
}

export async function hasPayload(db: Db | Tx, deliveryId: string): Promise<boolean> {
  const { payloads } = db.tables;
  const found = await db
    .select({ id: payloads.deliveryId })
    .from(payloads)
    .where(eq(payloads.deliveryId, deliveryId));
  return found.length > 0;
}

export function listPayloadsBelow(db: Db, id: string, limit: number) {
  return listDecidedPayloads(db, lt(db.tables.payloads.deliveryId, id), limit);
}

export async function sumPayloadBytes(db: Db): Promise<{ organizationId: string; bytes: number }[]> {
  const { payloads } = db.tables;
  const rows = await db
    .select({ organizationId: payloads.organizationId, bytes: sum(payloads.size).mapWith(Number) })
    .from(payloads)
    .groupBy(payloads.organizationId);
  return rows.map((row) => ({ organizationId: row.organizationId, bytes: row.bytes ?? 0 }));
}

export function listOldestPayloads(db: Db, organizationId: string, limit: number) {
  return listDecidedPayloads(db, eq(db.tables.payloads.organizationId, organizationId), limit);
}

/** Oldest first, of decided deliveries. */
async function listDecidedPayloads(db: Db, condition: SQL, limit: number) {
  const { payloads, deliveries } = db.tables;
  return db
    .select({ deliveryId: payloads.deliveryId, size: payloads.size })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(and(condition, isNotNull(deliveries.status)))
    .orderBy(asc(payloads.deliveryId))
    .limit(limit);
}

export async function deletePayloads(tx: Tx, deliveryIds: string[]): Promise<void> {
  await tx.delete(tx.tables.payloads).where(inArray(tx.tables.payloads.deliveryId, deliveryIds));
}
