import { and, asc, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo, type ListedRows, type ListPage, listCreated } from "../db/list-page.ts";
import { findRow } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";

export type Secret = Tables["secrets"]["$inferSelect"];

export function findSecret(db: Db | Tx, clusterId: string, id: string): Promise<Secret | undefined> {
  const { secrets } = db.tables;
  return findRow(db, secrets, and(eq(secrets.id, id), eq(secrets.clusterId, clusterId)));
}

/** @param key in any case */
export function findSecretByKey(db: Db | Tx, clusterId: string, key: string): Promise<Secret | undefined> {
  const { secrets } = db.tables;
  return findRow(
    db,
    secrets,
    and(eq(secrets.clusterId, clusterId), eq(sql`lower(${secrets.key})`, key.toLowerCase())),
  );
}

/** Secrets of a cluster, oldest first. */
export async function listSecretsPage(
  db: Db,
  clusterId: string,
  page: ListPage,
): Promise<ListedRows<Secret>> {
  return listCreated(db, db.tables.secrets, isOfCluster(db, clusterId), page);
}

/** All secrets of a cluster, oldest first. Their number is limited. */
export async function listSecrets(db: Db, clusterId: string): Promise<Secret[]> {
  const { secrets } = db.tables;
  return db.select().from(secrets).where(isOfCluster(db, clusterId)).orderBy(asc(secrets.id));
}

export function countSecrets(db: Db | Tx, clusterId: string, limit: number): Promise<number> {
  return countUpTo(db, db.tables.secrets, isOfCluster(db, clusterId), limit);
}

function isOfCluster({ tables: { secrets } }: Db | Tx, clusterId: string): SQL {
  return eq(secrets.clusterId, clusterId);
}

export async function insertSecret(tx: Tx, secret: Secret): Promise<void> {
  await tx.insert(tx.tables.secrets).values(secret);
}

/** Locks the secret. Undefined if it was deleted. */
export async function lockSecret(tx: Tx, id: string): Promise<Secret | undefined> {
  const { secrets } = tx.tables;
  const [locked] = await tx.lock(secrets, eq(secrets.id, id), "exclusive");
  return locked;
}

/** Undefined if it was deleted. */
export async function updateSecretIfPresent(
  tx: Tx,
  id: string,
  change: Partial<Secret>,
): Promise<Secret | undefined> {
  const { secrets } = tx.tables;
  const [updated] = await tx.update(secrets).set(change).where(eq(secrets.id, id)).returning();
  return updated;
}

/** Undefined if it was deleted. */
export async function deleteSecretIfPresent(tx: Tx, id: string): Promise<Secret | undefined> {
  const { secrets } = tx.tables;
  const [deleted] = await tx.delete(secrets).where(eq(secrets.id, id)).returning();
  return deleted;
}

/** Stores when a job read the secret last, unless one did after `since`. */
export async function setLastReadIfBefore(
  tx: Tx,
  { id, since, now }: { id: string; since: Date; now: Date },
): Promise<void> {
  const { secrets } = tx.tables;
  await tx
    .update(secrets)
    .set({ lastReadAt: now })
    .where(and(eq(secrets.id, id), or(isNull(secrets.lastReadAt), lt(secrets.lastReadAt, since))));
}
