import { and, eq, exists, gt, inArray, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { isOneOf, prepared } from "../db/prepared.ts";
import { deleteRows } from "../db/rows.ts";
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
 * A user enters a pending code and may release it again.
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

/** (none) → pending. @throws a unique violation if another pending code has one of the user codes */
export async function insertPending(tx: Tx, codes: NewDeviceCode[]): Promise<void> {
  const rows = codes.map((code): DeviceCode => ({ ...code, ...undecided }));
  await tx.insertMany(tx.tables.deviceCodes, rows);
}

const undecided = {
  state: "pending",
  claimedById: null,
  cameByLink: false,
  decidedAt: null,
  organizationId: null,
  grantedScopes: null,
  approvedUserAgent: null,
  approvedIp: null,
} as const;

/** The columns that a poll needs. Reading the whole row would cost twice as much. */
export type PolledCode = Pick<DeviceCode, "id" | "deviceCodeHash" | "applicationId" | "state" | "expiresAt">;

export const listPolledCodes = prepared<{ hashes: string[] }, PolledCode>((db) => {
  const { deviceCodes } = db.tables;
  const { id, deviceCodeHash, applicationId, state, expiresAt } = deviceCodes;
  return db
    .select({ id, deviceCodeHash, applicationId, state, expiresAt })
    .from(deviceCodes)
    .where(isOneOf(deviceCodeHash, "hashes"));
});

export type RedeemedCode = Pick<
  DeviceCode,
  "id" | "claimedById" | "organizationId" | "grantedScopes" | "approvedUserAgent" | "approvedIp"
>;

/** approved → used, unless the application is disabled. Of simultaneous polls exactly one gets the row. */
export const redeemIfApproved = prepared<{ ids: string[]; expiredBefore: Date }, RedeemedCode, Tx>((tx) => {
  const { deviceCodes, applications } = tx.tables;
  const { id, claimedById, organizationId, grantedScopes, approvedUserAgent, approvedIp } = deviceCodes;
  const enabled = tx
    .select({ id: applications.id })
    .from(applications)
    .where(and(eq(applications.id, deviceCodes.applicationId), isNull(applications.disabledAt)));
  return tx
    .update(deviceCodes)
    .set({ state: "used" })
    .where(
      and(
        isOneOf(id, "ids"),
        eq(deviceCodes.state, "approved"),
        gt(deviceCodes.expiresAt, sql.param(sql.placeholder("expiredBefore"), deviceCodes.expiresAt)),
        exists(enabled),
      ),
    )
    .returning({ id, claimedById, organizationId, grantedScopes, approvedUserAgent, approvedIp });
});

/** used → denied, in the transaction that redeemed the codes. */
export async function denyRedeemed(tx: Tx, ids: string[]): Promise<void> {
  const { deviceCodes } = tx.tables;
  await tx.update(deviceCodes).set({ state: "denied" }).where(inArray(deviceCodes.id, ids));
}

/** Returns true for a denied code that its user had approved: only an approval names an organization. */
export async function wasApproved(db: Db, id: string): Promise<boolean> {
  const { deviceCodes } = db.tables;
  const [found] = await db
    .select({ organizationId: deviceCodes.organizationId })
    .from(deviceCodes)
    .where(eq(deviceCodes.id, id));
  return !!found?.organizationId;
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
    .where(and(inArray(deviceCodes.id, overdue), isOverdue)) // checked again: it may be approved by now
    .returning({ id: deviceCodes.id });
  return changed.length;
}

export function deleteExpiredBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { id, expiresAt } = tx.tables.deviceCodes;
  return deleteRows(tx, { key: id, where: lt(expiresAt, time) }, limit);
}
