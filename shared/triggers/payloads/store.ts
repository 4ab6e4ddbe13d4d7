import { and, asc, eq, gt, inArray, lt, sql } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, prepared } from "../../db/prepared.ts";
import type { StoredHeader } from "../../vocabulary.ts";
import { decodeBody, decodeStart, type EncodedBody } from "./codec.ts";
import { lockTotals, subtractFromTotals } from "./totals-store.ts";

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
  const [found] = await listEncodedPayloads(db, { deliveryIds: [deliveryId] });
  return found && { headers: found.headers, body: await decodeBody(found.body) };
}

export interface PayloadStart {
  headers: StoredHeader[];
  /** Without a character that is cut in half. */
  text: string;
  isWhole: boolean;
}

/** Deflated bytes may be a little longer than what they stand for. */
const deflateOverheadBytes = 1024;

/** Reads as much of a payload as a page shows. */
export async function findPayloadStart(
  db: Db,
  deliveryId: string,
  maxBytes: number,
): Promise<PayloadStart | undefined> {
  const { payloads, deliveries } = db.tables;
  const maxStored = sql.raw(String(maxBytes + deflateOverheadBytes));
  const start = sql`substr(${payloads.body}, 1, ${maxStored})`.mapWith(payloads.body);
  const [found] = await db
    .select({ headers: payloads.headers, codec: payloads.codec, bytes: start, size: deliveries.size })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(eq(payloads.deliveryId, deliveryId));
  if (!found) return undefined;
  const text = new TextDecoder().decode(await decodeStart(found, maxBytes), { stream: true });
  return { headers: found.headers, text, isWhole: found.size <= maxBytes };
}

export const listEncodedPayloads = prepared<{ deliveryIds: string[] }, EncodedPayload>((db) => {
  const { payloads, deliveries } = db.tables;
  return db
    .select({
      deliveryId: payloads.deliveryId,
      headers: payloads.headers,
      body: { codec: payloads.codec, bytes: payloads.body, size: deliveries.size },
    })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(isOneOf(payloads.deliveryId, "deliveryIds"));
});

/** Reads bodies as stored. */
export const listBodies = prepared<
  { deliveryIds: string[] },
  { deliveryId: string } & Pick<EncodedBody, "codec" | "bytes">,
  Tx
>((tx) => {
  const { payloads } = tx.tables;
  return tx
    .select({ deliveryId: payloads.deliveryId, codec: payloads.codec, bytes: payloads.body })
    .from(payloads)
    .where(isOneOf(payloads.deliveryId, "deliveryIds"));
});

export async function hasPayload(db: Db | Tx, deliveryId: string): Promise<boolean> {
  return (await findPayloadSize(db, deliveryId)) !== undefined;
}

/** Returns the ids of the given deliveries whose payload is kept. */
export async function listKeptPayloads(tx: Tx, deliveryIds: string[]): Promise<Set<string>> {
  const { payloads } = tx.tables;
  const rows = await tx
    .select({ id: payloads.deliveryId })
    .from(payloads)
    .where(inArray(payloads.deliveryId, deliveryIds));
  return new Set(rows.map(({ id }) => id));
}

/** Bytes as received; undefined if evicted. */
export async function findPayloadSize(db: Db | Tx, deliveryId: string): Promise<number | undefined> {
  const { payloads, deliveries } = db.tables;
  const [found] = await db
    .select({ size: deliveries.size })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(eq(payloads.deliveryId, deliveryId));
  return found?.size;
}

/** Lists payloads, oldest first. `isDecided` is false while the delivery waits. */
export async function listOldestPayloads(
  tx: Tx,
  { organizationId, after, below }: { organizationId?: string | undefined; after: string; below: string },
  limit: number,
): Promise<{ deliveryId: string; size: number; isDecided: boolean }[]> {
  const { payloads, deliveries } = tx.tables;
  const isOfOrganization =
    organizationId === undefined ? undefined : eq(payloads.organizationId, organizationId);
  const rows = await tx
    .select({ deliveryId: payloads.deliveryId, size: payloads.size, status: deliveries.status })
    .from(payloads)
    .innerJoin(deliveries, eq(deliveries.id, payloads.deliveryId))
    .where(
      and(
        isOfOrganization,
        gt(payloads.deliveryId, after),
        lt(payloads.deliveryId, below),
        gt(deliveries.id, after), // else Postgres merges all deliveries from the first on
      ),
    )
    .orderBy(asc(payloads.deliveryId))
    .limit(limit);
  return rows.map(({ status, ...payload }) => ({ ...payload, isDecided: status !== null }));
}

/** Deletes payloads, and subtracts them from the totals. */
export async function deletePayloads(tx: Tx, deliveryIds: string[]): Promise<void> {
  const { payloads } = tx.tables;
  if (deliveryIds.length === 0) return;
  const countedBelow = await lockTotals(tx);
  const deleted = await tx.delete(payloads).where(inArray(payloads.deliveryId, deliveryIds)).returning({
    deliveryId: payloads.deliveryId,
    organizationId: payloads.organizationId,
    size: payloads.size,
  });
  await subtractFromTotals(
    tx,
    deleted.filter(({ deliveryId }) => deliveryId < countedBelow),
  );
}
