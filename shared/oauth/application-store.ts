import { asc, eq } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { findBy } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";

export type Application = Tables["applications"]["$inferSelect"];

export async function insertApplication(tx: Tx, application: Application): Promise<void> {
  await tx.insert(tx.tables.applications).values(application);
}

export const findApplication = findBy<Application>(({ applications }) => applications.clientId);

export const findApplicationById = findBy<Application>(({ applications }) => applications.id);

export async function listApplications(db: Db): Promise<Application[]> {
  const { applications } = db.tables;
  return db.select().from(applications).orderBy(asc(applications.id));
}

export async function updateApplication(
  tx: Tx,
  clientId: string,
  change: Partial<Pick<Application, "disabledAt" | "secretHash">>,
): Promise<Application | undefined> {
  const { applications } = tx.tables;
  const [updated] = await tx
    .update(applications)
    .set(change)
    .where(eq(applications.clientId, clientId))
    .returning();
  return updated;
}
