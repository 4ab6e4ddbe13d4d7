import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { prepared, preparedRow } from "../db/prepared.ts";
import { countRows, ownedRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import type { ConnectionType } from "./types.ts";

export type Connection = Tables["repositoryConnections"]["$inferSelect"];

export const {
  find: findConnection,
  listAll: listConnections,
  listPage: listConnectionsPage,
  count: countConnections,
  insert: insertConnection,
  lock: lockConnection,
  updateIfPresent: updateConnection,
  deleteIfPresent: deleteConnectionIfPresent,
} = ownedRows<Connection>((tables) => tables.repositoryConnections, { owner: "organizationId" });

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

/** Of all organizations. */
export function countFailingConnections(db: Db): Promise<number> {
  const { repositoryConnections: connections } = db.tables;
  return countRows(db, connections, isNotNull(connections.failingSince));
}
