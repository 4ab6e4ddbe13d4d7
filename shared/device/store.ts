import { and, eq, gt, inArray, lt, lte, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";

/**
 * The states of a device code. The old state is in the WHERE of each transition, so exactly one of several wins.
 *
 * | from              | event                                          | to       |
 * | (none)            | a client requests a code                       | pending  |
 * | pending           | the user approves before expiry                | approved |
 * | pending           | the user denies before expiry                  | denied   |
 * | pending, approved | time passes                                    | expired  |
 * | approved          | the first poll                                 | used     |
 * | approved          | the first poll, after the user lost the rights | denied   |
 *
 * A user claims a pending code and may release it again.
 */
export type DeviceCode = Tables["deviceCodes"]["$inferSelect"];

export type NewDeviceCode = Pick<
  DeviceCode,
  | "id"
  | "deviceCodeHash"
  | "userCodeMac"
  | "applicationId"
  | "scopes"
  | "preselectedOrganizationId"
  | "requestIp"
  | "requestUserAgent"
  | "createdAt"
  | "expiresAt"
>;

const insertPending = prepared<NewDeviceCode, { id: string }, Tx>((tx) =>
  tx
    .insert(tx.tables.deviceCodes)
    .values({
      id: sql.placeholder("id"),
      deviceCodeHash: sql.placeholder("deviceCodeHash"),
      userCodeMac: sql.placeholder("userCodeMac"),
      applicationId: sql.placeholder("applicationId"),
      scopes: sql.placeholder("scopes"),
      state: "pending",
      preselectedOrganizationId: sql.placeholder("preselectedOrganizationId"),
      requestIp: sql.placeholder("requestIp"),
      requestUserAgent: sql.placeholder("requestUserAgent"),
      createdAt: sql.placeholder("createdAt"),
      expiresAt: sql.placeholder("expiresAt"),
      claimedById: null,
      cameByLink: false,
      decidedAt: null,
      organizationId: null,
      grantedScopes: null,
      approvedUserAgent: null,
      approvedIp: null,
    })
    .onConflictDoNothing()
    .returning({ id: tx.tables.deviceCodes.id }),
);

/** (none) → pending. False if another pending code has the user code. */
export async function insertIfUserCodeIsFree(tx: Tx, code: NewDeviceCode): Promise<boolean> {
  return (await insertPending(tx, code)).length > 0;
}

const deviceCodeByHash = prepared<{ deviceCodeHash: string }, DeviceCode>((db) => {
  const { deviceCodes } = db.tables;
  return db
    .select()
    .from(deviceCodes)
    .where(eq(deviceCodes.deviceCodeHash, sql.placeholder("deviceCodeHash")));
});

export async function findDeviceCode(db: Db, deviceCodeHash: string): Promise<DeviceCode | undefined> {
  return (await deviceCodeByHash(db, { deviceCodeHash }))[0];
}

const redeem = prepared<{ id: string; expiredBefore: Date }, DeviceCode, Tx>((tx) => {
  const { deviceCodes } = tx.tables;
  return tx
    .update(deviceCodes)
    .set({ state: "used" })
    .where(
      and(
        eq(deviceCodes.id, sql.placeholder("id")),
        eq(deviceCodes.state, "approved"),
        gt(deviceCodes.expiresAt, sql.param(sql.placeholder("expiredBefore"), deviceCodes.expiresAt)),
      ),
    )
    .returning();
});

/** approved → used. Exactly one of simultaneous polls gets the row. */
export async function redeemIfApproved(
  tx: Tx,
  id: string,
  expiredBefore: Date,
): Promise<DeviceCode | undefined> {
  return (await redeem(tx, { id, expiredBefore }))[0];
}

/** used → denied, in the transaction that redeemed the code. */
export async function denyRedeemed(tx: Tx, id: string): Promise<void> {
  const { deviceCodes } = tx.tables;
  await tx.update(deviceCodes).set({ state: "denied" }).where(eq(deviceCodes.id, id));
}

/** pending, approved → expired. Returns the number. */
export async function expireIfOverdue(
  tx: Tx,
  before: { pending: Date; approved: Date },
  limit: number,
): Promise<number> {
  const { deviceCodes } = tx.tables;
  const isOverdue = or(
    and(eq(deviceCodes.state, "pending"), lte(deviceCodes.expiresAt, before.pending)),
    and(eq(deviceCodes.state, "approved"), lte(deviceCodes.expiresAt, before.approved)),
  );
  const overdue = tx.select({ id: deviceCodes.id }).from(deviceCodes).where(isOverdue).limit(limit);
  const changed = await tx
    .update(deviceCodes)
    .set({ state: "expired" })
    .where(and(inArray(deviceCodes.id, overdue), isOverdue)) // again: it may be approved by now
    .returning({ id: deviceCodes.id });
  return changed.length;
}

/** Returns the number deleted. */
export async function deleteExpiredBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { deviceCodes } = tx.tables;
  const old = tx
    .select({ id: deviceCodes.id })
    .from(deviceCodes)
    .where(lt(deviceCodes.expiresAt, time))
    .limit(limit);
  const deleted = await tx
    .delete(deviceCodes)
    .where(inArray(deviceCodes.id, old))
    .returning({ id: deviceCodes.id });
  return deleted.length;
}
