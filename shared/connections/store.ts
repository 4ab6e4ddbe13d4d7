import { and, eq, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { prepared, preparedRow } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";

export type Connection = Tables["repositoryConnections"]["$inferSelect"];

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

const selectHosts = prepared<{ organizationId: string }, Pick<Connection, "host" | "type">>((db) => {
  const { repositoryConnections: connections } = db.tables;
  return db
    .select({ host: connections.host, type: connections.type })
    .from(connections)
    .where(eq(connections.organizationId, sql.placeholder("organizationId")));
});

/** The hosts of an organization, and their types. Their number is limited. */
export async function listHosts(
  db: Db | Tx,
  organizationId: string,
): Promise<Pick<Connection, "host" | "type">[]> {
  return selectHosts(db, { organizationId });
}
