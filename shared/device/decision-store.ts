import { and, desc, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo } from "../db/list-page.ts";
import type { DeviceCode } from "./store.ts";

/**
 * pending → pending. Undefined if another user was first.
 * @param macs of the user code, under the current and the previous key
 */
export async function enterIfPending(
  tx: Tx,
  macs: string[],
  entry: { userId: string; cameByLink: boolean; now: Date },
): Promise<DeviceCode | undefined> {
  const { deviceCodes } = tx.tables;
  const [entered] = await tx
    .update(deviceCodes)
    .set({ claimedById: entry.userId, cameByLink: entry.cameByLink })
    .where(
      and(
        inArray(deviceCodes.userCodeMac, macs),
        sql`${deviceCodes.state} = 'pending'`, // as in the index
        gt(deviceCodes.expiresAt, entry.now),
        or(isNull(deviceCodes.claimedById), eq(deviceCodes.claimedById, entry.userId)),
      ),
    )
    .returning();
  return entered;
}

/** The newest entered code, in any state. */
export async function findEntered(db: Db, macs: string[], userId: string) {
  const { deviceCodes, applications } = db.tables;
  const [found] = await db
    .select({ code: deviceCodes, application: applications })
    .from(deviceCodes)
    .innerJoin(applications, eq(applications.id, deviceCodes.applicationId))
    .where(and(inArray(deviceCodes.userCodeMac, macs), eq(deviceCodes.claimedById, userId)))
    .orderBy(desc(deviceCodes.id))
    .limit(1);
  return found;
}

/** Counts the codes that a member has approved, and that can still be redeemed. */
export function countApproved(
  tx: Tx,
  { organizationId, userId, expiredBefore }: { organizationId: string; userId: string; expiredBefore: Date },
  limit: number,
): Promise<number> {
  const { deviceCodes } = tx.tables;
  const isApproved = and(
    eq(deviceCodes.claimedById, userId),
    eq(deviceCodes.organizationId, organizationId),
    sql`${deviceCodes.state} = 'approved'`, // as in the index
    gt(deviceCodes.expiresAt, expiredBefore),
  );
  return countUpTo(tx, deviceCodes, isApproved, limit);
}

interface Decision {
  id: string;
  userId: string;
  now: Date;
}

/** pending → approved. */
export async function approveIfPending(
  tx: Tx,
  decision: Decision,
  approval: Pick<DeviceCode, "organizationId" | "grantedScopes" | "approvedUserAgent" | "approvedIp">,
): Promise<boolean> {
  return changeIfPending(tx, decision, { state: "approved", decidedAt: decision.now, ...approval });
}

/** pending → denied. */
export async function denyIfPending(tx: Tx, decision: Decision): Promise<boolean> {
  return changeIfPending(tx, decision, { state: "denied", decidedAt: decision.now });
}

/** pending → pending. */
export async function releaseIfPending(tx: Tx, decision: Decision): Promise<boolean> {
  return changeIfPending(tx, decision, { claimedById: null });
}

async function changeIfPending(
  tx: Tx,
  { id, userId, now }: Decision,
  change: Partial<DeviceCode>,
): Promise<boolean> {
  const { deviceCodes } = tx.tables;
  const changed = await tx
    .update(deviceCodes)
    .set(change)
    .where(
      and(
        eq(deviceCodes.id, id),
        eq(deviceCodes.state, "pending"),
        eq(deviceCodes.claimedById, userId),
        gt(deviceCodes.expiresAt, now),
      ),
    )
    .returning();
  return changed.length > 0;
}
