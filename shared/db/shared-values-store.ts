import { eq } from "drizzle-orm";
import type { Db, Tx } from "./database.ts";

/** Finds a value that all processes share, in the table `settings`. */
export async function findSharedValue(db: Db | Tx, name: string): Promise<string | undefined> {
  const { settings } = db.tables;
  const [found] = await db.select().from(settings).where(eq(settings.name, name));
  return found?.value;
}

export async function putSharedValue(tx: Tx, name: string, value: string): Promise<void> {
  const { settings } = tx.tables;
  await tx
    .insert(settings)
    .values({ name, value })
    .onConflictDoUpdate({ target: settings.name, set: { value } });
}

/** Locks and returns a value that a migration has written. */
export async function lockSharedValue(tx: Tx, name: string): Promise<string> {
  const { settings } = tx.tables;
  const [locked] = await tx.lock(settings, eq(settings.name, name), "exclusive");
  if (!locked) throw new Error(`The shared value ${name} is missing.`);
  return locked.value;
}

/** A time beyond that comes from a clock that was ahead, and does not count. */
const maxAheadFactor = 2;

/** Takes a name for `forMs`, unless another holder has it. Its holder renews it by the same call. */
export async function takeIfFree(
  tx: Tx,
  name: string,
  { holder, forMs }: { holder: string; forMs: number },
): Promise<boolean> {
  const { settings } = tx.tables;
  const [row] = await tx.lock(settings, eq(settings.name, name), "exclusive");
  const known = row && (JSON.parse(row.value) as { holder: string; until: number });
  const leftMs = known ? known.until - tx.now.getTime() : 0;
  if (known?.holder !== holder && leftMs > 0 && leftMs <= maxAheadFactor * forMs) return false;
  await putSharedValue(tx, name, JSON.stringify({ holder, until: tx.now.getTime() + forMs }));
  return true;
}
