import { findSetting, putSetting } from "../db/settings-store.ts";
import type { Services } from "./services.ts";

const setting = "secret_key_fingerprint";

export class WrongSecretKey extends Error {
  override readonly name = "WrongSecretKey";
}

/**
 * Skips the check while the database is away or not migrated.
 * @throws WrongSecretKey
 */
export async function checkSecretKey({ db, cipher, log }: Services): Promise<void> {
  try {
    const known = await findSetting(db, setting);
    if (known === cipher.fingerprints[0]) return;
    if (known && !cipher.fingerprints.includes(known)) {
      throw new WrongSecretKey(
        "SECRET_KEY is not the key that this database's secrets were stored under. " +
          "Start with the former key, or give it as SECRET_KEY_PREVIOUS beside the new one.",
      );
    }
    await db.transaction((tx) => putSetting(tx, setting, cipher.fingerprints[0] ?? ""));
  } catch (error) {
    if (error instanceof WrongSecretKey) throw error;
    log.warn({ err: error }, "SECRET_KEY could not be checked: the database is away or not migrated");
  }
}
