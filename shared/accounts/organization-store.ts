import { asc, desc, eq, gte, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { findBy, preparedRow } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import type { Feature } from "../vocabulary.ts";

export type Organization = Tables["organizations"]["$inferSelect"];

export const findOrganization = findBy<Organization>(({ organizations }) => organizations.slug);

export const findOrganizationById = findBy<Organization>(({ organizations }) => organizations.id);

export async function listOrganizations(db: Db): Promise<Organization[]> {
  return db.select().from(db.tables.organizations).orderBy(asc(db.tables.organizations.slug));
}

/** Organizations that stored at least this when they were counted last, those with most first. */
export async function listOrganizationsStoring(
  db: Db,
  bytes: number,
  limit: number,
): Promise<Organization[]> {
  const { organizations } = db.tables;
  return db
    .select()
    .from(organizations)
    .where(gte(organizations.storedBytes, bytes))
    .orderBy(desc(organizations.storedBytes))
    .limit(limit);
}

export async function insertOrganization(tx: Tx, organization: Organization): Promise<void> {
  await tx.insert(tx.tables.organizations).values(organization);
}

export function lockOrganization(tx: Tx, id: string): Promise<Organization | undefined> {
  return lockById(tx, { id });
}

const lockById = preparedRow<{ id: string }, Organization, Tx>((tx) => {
  const { organizations } = tx.tables;
  return tx.lock(organizations, eq(organizations.id, sql.placeholder("id")), "exclusive");
});

export async function setOrganization(
  tx: Tx,
  id: string,
  change: { name: string; deliveriesPerHour: number; features: Feature[] },
): Promise<void> {
  await tx.update(tx.tables.organizations).set(change).where(eq(tx.tables.organizations.id, id));
}
