import { and, asc, eq, isNotNull, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo, listCreated } from "../db/list-page.ts";
import { prepared, preparedRow } from "../db/prepared.ts";
import { countRows, findRow } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import type { ConnectionType } from "./types.ts";

export type Connection = Tables["repositoryConnections"]["$inferSelect"];

export function findConnection(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<Connection | undefined> {
  const { repositoryConnections: connections } = db.tables;
  return findRow(
    db,
    connections,
    and(eq(connections.id, id), eq(connections.organizationId, organizationId)),
  );
}

const selectOfHost = preparedRow<{ organizationId: string; host: string }, Connection>((db) => {
  const { repositoryConnections: connections } = db.tables;
  const isOfOrganization = eq(connections.organizationId, sql.placeholder("organizationId"));
  return db
    .select()
    .from(connections)
    .where(and(isOfOrganization, eq(connections.host, sql.placeholder("host"))));
});

/** @param host a host name in lower case */
export function findConnectionOfHost(
  db: Db | Tx,
  organizationId: string,
  host: string,
): Promise<Connection | undefined> {
  return selectOfHost(db, { organizationId, host });
}

/** Oldest first. */
export const listConnectionsPage = listCreated<{ organizationId: string }, Connection>((db) => ({
  table: db.tables.repositoryConnections,
  where: eq(db.tables.repositoryConnections.organizationId, sql.placeholder("organizationId")),
}));

/** All of an organization, oldest first. Their number is limited. */
export async function listConnections(db: Db, organizationId: string): Promise<Connection[]> {
  const { repositoryConnections: connections } = db.tables;
  return db
    .select()
    .from(connections)
    .where(eq(connections.organizationId, organizationId))
    .orderBy(asc(connections.id));
}

/** A source host of an organization. */
export interface Host extends Pick<Connection, "host" | "webhookAllowedAddresses"> {
  type: ConnectionType;
}

const selectHosts = prepared<{ organizationId: string }, Pick<Connection, keyof Host>>((db) => {
  const { host, type, webhookAllowedAddresses, organizationId } = db.tables.repositoryConnections;
  return db
    .select({ host, type, webhookAllowedAddresses })
    .from(db.tables.repositoryConnections)
    .where(eq(organizationId, sql.placeholder("organizationId")));
});

/** The hosts of an organization. Their number is limited. */
export async function listHosts(db: Db | Tx, organizationId: string): Promise<Host[]> {
  return (await selectHosts(db, { organizationId })) as Host[];
}

export function countConnections(tx: Tx, organizationId: string, limit: number): Promise<number> {
  const { repositoryConnections: connections } = tx.tables;
  return countUpTo(tx, connections, eq(connections.organizationId, organizationId), limit);
}

/** Of all organizations. */
export function countFailingConnections(db: Db): Promise<number> {
  const { repositoryConnections: connections } = db.tables;
  return countRows(db, connections, isNotNull(connections.failingSince));
}

export async function insertConnection(tx: Tx, connection: Connection): Promise<void> {
  await tx.insert(tx.tables.repositoryConnections).values(connection);
}

/** Locks the connection. Undefined if it was deleted. */
export async function lockConnection(tx: Tx, id: string): Promise<Connection | undefined> {
  const { repositoryConnections: connections } = tx.tables;
  const [locked] = await tx.lock(connections, eq(connections.id, id), "exclusive");
  return locked;
}

export async function updateConnection(tx: Tx, id: string, change: Partial<Connection>): Promise<void> {
  const { repositoryConnections: connections } = tx.tables;
  await tx.update(connections).set(change).where(eq(connections.id, id));
}

/** Undefined if it was deleted. */
export async function deleteConnectionIfPresent(tx: Tx, id: string): Promise<Connection | undefined> {
  const { repositoryConnections: connections } = tx.tables;
  const [deleted] = await tx.delete(connections).where(eq(connections.id, id)).returning();
  return deleted;
}
