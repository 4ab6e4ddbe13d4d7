import type { Cipher } from "../crypto/cipher.ts";
import type { SealedPlace } from "../crypto/sealed-places.ts";
import { rewriteBatch, type SealedBatch, sealedColumns } from "../db/sealed-store.ts";
import type { Sealed } from "./secret-key-check.ts";

export interface Resealed {
  resealed: number;
  /** No key opened these. They stay as they are. */
  unreadable: number;
}

/**
 * Seals all stored secrets under SECRET_KEY that do not name it, in small transactions. May be interrupted, repeated,
 * and run twice at once.
 */
export async function resealSecrets(
  services: Sealed,
  onProgress: (resealed: number) => void,
): Promise<Resealed> {
  const total: Resealed = { resealed: 0, unreadable: 0 };
  const keyName = services.cipher.keyNames[0];
  for (const column of sealedColumns) {
    for (const side of ["below", "above"] as const) {
      const unreadable = await resealRange(services, { column, keyName, side }, (resealed) => {
        total.resealed += resealed;
        onProgress(total.resealed);
      });
      total.unreadable += unreadable;
    }
  }
  return total;
}

/** @returns the number of texts that no key opens */
async function resealRange(
  { db, cipher }: Sealed,
  range: Omit<SealedBatch, "skipped">,
  onBatch: (resealed: number) => void,
): Promise<number> {
  for (let skipped = 0; ; ) {
    const batch = await db.transaction((tx) =>
      rewriteBatch(tx, { ...range, skipped }, (sealed, place) => resealIfPossible(cipher, sealed, place)),
    );
    skipped += batch.kept;
    onBatch(batch.changed.length);
    if (batch.isLast) return skipped;
  }
}

function resealIfPossible(cipher: Cipher, sealed: string, place: SealedPlace): string | undefined {
  try {
    return cipher.seal(cipher.open(sealed, place), place);
  } catch {
    return undefined;
  }
}
