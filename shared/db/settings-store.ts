import { eq } from "drizzle-orm";
import type { Db, Tx } from "./database.ts";

export async function findSetting(db: Db | Tx, name: string): Promise<string | undefined> {
  const { settings } = db.tables;
  const [found] = await db.select().from(settings).where(eq(settings.name, name));
  return found?.value;
}

export async function putSetting(tx: Tx, name: string, value: string): Promise<void> {
  const { settings } = tx.tables;
  await tx
    .insert(settings)
    .values({ name, value })
    .onConflictDoUpdate({ target: settings.name, set: { value } });
}
