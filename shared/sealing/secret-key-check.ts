import { existsSync } from "node:fs";
import { type Cipher, createCipher } from "../crypto/cipher.ts";
import { createSecretKey, secretKeyFile } from "../crypto/secret-key.ts";
import { DatabaseUnavailable, type Db, isMissingTable } from "../db/database.ts";
import { isSqliteUrl, openDatabase, sqliteFile } from "../db/open.ts";
import { countSealedUnderOthers, countSealedUnderUnknown } from "../db/sealed-store.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import type { Log } from "../process/log.ts";
import type { Config } from "../settings/config.ts";

/** A database with sealed secrets, and the cipher that opens them. */
export interface Sealed {
  db: Db;
  cipher: Cipher;
}

/** The services of a process whose key is checked. */
interface Checked extends Sealed {
  hotDb: Db;
  log: Log;
}

const fingerprintName = "secret_key_fingerprint";
const maxCount = 1000;

/** The process must end: it would seal what others cannot open. */
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
    return (await findSharedValue(db, fingerprintName)) !== undefined;
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
 * @returns false while the database is away or not migrated
 * @throws WrongSecretKey
 */
export async function checkSecretKey(services: Omit<Checked, "hotDb">): Promise<boolean> {
  try {
    await requireSecretKey(services);
    return true;
  } catch (error) {
    if (error instanceof WrongSecretKey) throw error;
    services.log.warn(
      { err: error },
      "SECRET_KEY is checked before the first write: the database is away or not migrated",
    );
    return false;
  }
}

/** Makes SECRET_KEY the key of the database. Call once nothing needs another key. */
export async function acceptSecretKey({ db, cipher }: Sealed): Promise<void> {
  await db.transaction((tx) => putSharedValue(tx, fingerprintName, cipher.fingerprints[0] ?? ""));
}

/** Counts sealed values that name another key than SECRET_KEY. 1,000 stands for 1,000 or more. */
export function countUnderOtherKeys({ db, cipher }: Sealed): Promise<number> {
  return countSealedUnderOthers(db, cipher.keyNames[0], maxCount);
}

/**
 * Services of a process that could not check its key at start. Their first write does.
 * @param onWrongKey called at most once
 */
export function checkBeforeWrites<Services extends Checked>(
  services: Services,
  onWrongKey: (error: WrongSecretKey) => void,
): Services {
  let checked: Promise<void> | undefined;
  const check = () => {
    checked ??= requireSecretKey(services).catch((error) => {
      if (error instanceof WrongSecretKey) onWrongKey(error);
      else checked = undefined;
      throw new DatabaseUnavailable("SECRET_KEY could not be checked.", { cause: error });
    });
    return checked;
  };
  const guard = (db: Db): Db => ({
    ...db,
    async transaction(work) {
      await check();
      return db.transaction(work);
    },
  });
  return { ...services, db: guard(services.db), hotDb: guard(services.hotDb) };
}

/**
 * Checks the copy of a SQLite database before it is put back. Without a key there is nothing to compare: processes then do
 * not start, and say so.
 * @throws WrongSecretKey
 */
export function requireKeyOfCopy(
  findValueOfCopy: (name: string) => string | undefined,
  { secretKey, previousSecretKey }: Pick<Config, "secretKey" | "previousSecretKey">,
): void {
  if (secretKey === undefined) return;
  const known = findValueOfCopy(fingerprintName);
  if (known === undefined || createCipher(secretKey, previousSecretKey).fingerprints.includes(known)) return;
  throw new WrongSecretKey(
    "Nothing is changed: SECRET_KEY is not the key that the copy's secrets were stored under. Give the key of that time " +
      `as SECRET_KEY, or put it into ${secretKeyFile}. If it is lost, restore without any key, then make a new one and run ` +
      "npm run -s admin -- secrets discard.",
  );
}

async function requireSecretKey(services: Omit<Checked, "hotDb">): Promise<void> {
  const { db, cipher, log } = services;
  const known = await findSharedValue(db, fingerprintName);
  const lost = await countSealedUnderUnknown(db, cipher.keyNames, maxCount);
  if (known && !cipher.fingerprints.includes(known)) throw new WrongSecretKey(`${wrongKey} ${needs(lost)}`);
  if (lost > 0) throw new WrongSecretKey(`${needs(lost)} ${missingKey}`);

  const left = await countUnderOtherKeys(services);
  if (left > 0) log.warn({ sealedUnderOtherKeys: left, countedUpTo: maxCount }, resealAdvice);
  if (known !== cipher.fingerprints[0]) await acceptSecretKey(services);
}

const wrongKey =
  "SECRET_KEY is not the key that this database's secrets were stored under. " +
  "Start with the former key, or give it as SECRET_KEY_PREVIOUS beside the new one.";
const missingKey =
  "Give that key as SECRET_KEY_PREVIOUS until npm run -s admin -- secrets reseal has stored them anew. " +
  "If it is lost: npm run -s admin -- secrets discard.";
const resealAdvice =
  "stored secrets do not name SECRET_KEY as their key: npm run -s admin -- secrets reseal stores them anew";

function needs(count: number): string {
  const number = `${count.toLocaleString("en")}${count === maxCount ? " or more" : ""}`;
  return `Stored secrets that need another key: ${number}.`;
}
