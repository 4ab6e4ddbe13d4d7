import { auditAsOperator } from "../accounts/organizations.ts";
import type { SealedPlace } from "../crypto/sealed-places.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { rewriteBatch, type SealedBatch, type SealedColumn, sealedColumns } from "../db/sealed-store.ts";
import { acceptSecretKey } from "../sealing/secret-key-check.ts";
import type { Services } from "../services/services.ts";
import { deleteOwnersOfSealed, disableTriggers, listOwnersOfSealed } from "./discard-secrets-store.ts";

export type LostSecrets = Record<SealedColumn, number>;

/** Counts the secrets that neither SECRET_KEY nor the previous one opens. */
export function countLostSecrets(services: Services): Promise<LostSecrets> {
  return processLost(services, false);
}

/**
 * Deletes the secrets that neither key opens, in small transactions, as the Operator; then SECRET_KEY is the key of
 * the database. Disables the triggers whose signing secret goes: they would accept unsigned deliveries.
 */
export async function discardLostSecrets(services: Services): Promise<LostSecrets> {
  const discarded = await processLost(services, true);
  await acceptSecretKey(services);
  return discarded;
}

async function processLost(services: Services, discards: boolean): Promise<LostSecrets> {
  const lost = Object.fromEntries(sealedColumns.map((column) => [column, 0])) as LostSecrets;
  const keyName = services.cipher.keyNames[0];
  for (const column of sealedColumns)
    for (const side of ["below", "above"] as const)
      lost[column] += await processRange(services, { column, keyName, side }, discards);
  return lost;
}

async function processRange(
  { db, cipher }: Services,
  range: Omit<SealedBatch, "skipped">,
  discards: boolean,
): Promise<number> {
  let lost = 0;
  for (let skipped = 0; ; ) {
    const from = skipped;
    const batch = await db.transaction(async (tx) => {
      let unreadable = 0;
      const rewritten = await rewriteBatch(tx, { ...range, skipped: from }, (sealed, place) => {
        if (opens(cipher, sealed, place)) return undefined;
        unreadable++;
        return discards ? null : undefined;
      });
      await auditDiscarded(tx, range.column, [...rewritten.changed, ...rewritten.needless]);
      await deleteOwnersOfSealed(tx, range.column, rewritten.needless);
      return { ...rewritten, unreadable };
    });
    lost += batch.unreadable;
    skipped += batch.kept;
    if (batch.isLast) return lost;
    await restBetweenTransactions();
  }
}

function opens(cipher: Services["cipher"], sealed: string, place: SealedPlace): boolean {
  try {
    cipher.open(sealed, place);
    return true;
  } catch {
    return false;
  }
}

async function auditDiscarded(tx: Tx, column: SealedColumn, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  if (column === "triggers.secretSealed") await disableTriggers(tx, ids);
  for (const { organizationId, ...subject } of await listOwnersOfSealed(tx, column, ids))
    await auditAsOperator(tx, organizationId, actionOf(column), subject);
}

function actionOf(column: SealedColumn): string {
  if (column === "secrets.valueSealed") return "discarded the lost value of, and deleted,";
  if (column === "triggers.secretSealed") return "discarded the lost secret of, and disabled,";
  if (column === "triggers.tokenSealed") return "discarded the lost address of";
  if (column === "repositoryConnections.tokenSealed") return "discarded the lost token of";
  if (column === "notificationServices.secretSealed") return "discarded the lost secret of";
  return "discarded the lost variables of";
}
