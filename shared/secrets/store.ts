import { and, asc, eq, getTableColumns, gt, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { capTotal, countUpTo, type ListedRows, type ListPage, listedRows } from "../db/list-page.ts";
import { findRow, ownedRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";

export type Secret = Tables["secrets"]["$inferSelect"];

export const {
  find: findSecret,
  count: countSecrets,
  insert: insertSecret,
  lock: lockSecret,
  updateIfPresent: updateSecretIfPresent,
  deleteIfPresent: deleteSecretIfPresent,
} = ownedRows<Secret>(({ secrets }) => secrets, { owner: "clusterId" });

/** @param key in any case */
export function findSecretByKey(db: Db | Tx, clusterId: string, key: string): Promise<Secret | undefined> {
  const { secrets } = db.tables;
  return findRow(
    db,
    secrets,
    and(eq(secrets.clusterId, clusterId), eq(sql`lower(${secrets.key})`, key.toLowerCase())),
  );
}

/** A secret as lists show it: values may have 64 KB each. */
export type ListedSecret = Omit<Secret, "valueSealed">;

/** Secrets of a cluster, oldest first: ids sort by age. */
export async function listSecretsPage(
  db: Db,
  clusterId: string,
  page: ListPage,
): Promise<ListedRows<ListedSecret>> {
  const { secrets } = db.tables;
  const { limit, offset, after } = page;
  const total = capTotal(await countUpTo(db, secrets, isOfCluster(db, clusterId)));
  const rows = await selectListed(db)
    .where(and(isOfCluster(db, clusterId), after && gt(secrets.id, after.id)))
    .orderBy(asc(secrets.id))
    .limit(limit + 1)
    .offset(after ? 0 : offset);
  const cursorOf = ({ createdAt, id }: ListedSecret) => ({ number: createdAt.getTime(), id });
  return listedRows(rows, page, { total, cursorOf });
}

/** All secrets of a cluster, oldest first. Their number is limited. */
export async function listSecrets(db: Db, clusterId: string): Promise<ListedSecret[]> {
  const { secrets } = db.tables;
  return selectListed(db).where(isOfCluster(db, clusterId)).orderBy(asc(secrets.id));
}

function selectListed(db: Db) {
  const { secrets } = db.tables;
  const { valueSealed: _value, ...columns } = getTableColumns(secrets);
  return db.select(columns).from(secrets);
}

function isOfCluster({ tables: { secrets } }: Db | Tx, clusterId: string): SQL {
  return eq(secrets.clusterId, clusterId);
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
