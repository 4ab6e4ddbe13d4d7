import { asc, eq, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import { findRow } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import type { Feature } from "../vocabulary.ts";

export type Organization = Tables["organizations"]["$inferSelect"];

export function findOrganization(db: Db | Tx, slug: string): Promise<Organization | undefined> {
  const { organizations } = db.tables;
  return findRow(db, organizations, eq(organizations.slug, slug));
}

const organizationById = prepared<{ id: string }, Organization>((db) => {
  const { organizations } = db.tables;
  return db
    .select()
    .from(organizations)
    .where(eq(organizations.id, sql.placeholder("id")));
});

export async function findOrganizationById(db: Db | Tx, id: string): Promise<Organization | undefined> {
  const [found] = await organizationById(db, { id });
  return found;
}

export async function listOrganizations(db: Db): Promise<Organization[]> {
  return db.select().from(db.tables.organizations).orderBy(asc(db.tables.organizations.slug));
}

export async function insertOrganization(tx: Tx, organization: Organization): Promise<void> {
  await tx.insert(tx.tables.organizations).values(organization);
}

export async function lockOrganization(tx: Tx, id: string): Promise<Organization | undefined> {
  const { organizations } = tx.tables;
  const [locked] = await tx.lock(organizations, eq(organizations.id, id), "exclusive");
  return locked;
}

export async function setOrganization(
  tx: Tx,
  id: string,
  change: { name: string; deliveriesPerHour: number; features: Feature[] },
): Promise<void> {
  await tx.update(tx.tables.organizations).set(change).where(eq(tx.tables.organizations.id, id));
}
