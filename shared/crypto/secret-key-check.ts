import { existsSync } from "node:fs";
import { isMissingTable } from "../db/database.ts";
import { isSqliteUrl, openDatabase, sqliteFile } from "../db/open.ts";
import { findSetting, putSetting } from "../db/settings-store.ts";
import type { Config } from "../runtime/config.ts";
import type { Services } from "../runtime/services.ts";
import { createSecretKey, secretKeyFile } from "./secret-key.ts";

const setting = "secret_key_fingerprint";

export class WrongSecretKey extends Error {
  override readonly name = "WrongSecretKey";
}

/**
 * Makes the key of a new installation, if the configuration has none.
 * @throws WrongSecretKey if the database has the secrets of a lost key, or cannot be asked
 */
export async function withSecretKey(config: Config): Promise<Config> {
  if (config.secretKey !== undefined) return config;
  if (await hasSecretKey(config)) {
    throw new WrongSecretKey(
      `The file ${secretKeyFile} is missing, and this database has secrets that were stored under its key. ` +
        "Put the file back, from a backup of the folder data, or give the key as SECRET_KEY.",
    );
  }
  return { ...config, secretKey: createSecretKey() };
}

async function hasSecretKey({ databaseUrl, databaseTimeoutMs }: Config): Promise<boolean> {
  if (isSqliteUrl(databaseUrl) && !existsSync(sqliteFile(databaseUrl))) return false;
  const db = openDatabase({
    url: databaseUrl,
    poolSize: 1,
    timeoutMs: databaseTimeoutMs,
    onError: () => {}, // the query fails too
  });
  try {
    return (await findSetting(db, setting)) !== undefined;
  } catch (error) {
    if (isMissingTable(error)) return false;
    throw new WrongSecretKey(
      `The file ${secretKeyFile} is missing, and the database is away, which may have secrets that were stored ` +
        "under its key. Start the database first.",
      { cause: error },
    );
  } finally {
    await db.close();
  }
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
