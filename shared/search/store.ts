import { and, asc, eq, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader } from "../db/database.ts";
import type { AgentState } from "../vocabulary.ts";

// Each statement reads the names of one organization, whose number a setting bounds, or a build of each pipeline.

/** A search in one organization, of at most `limit` rows. */
export interface NameSearch {
  organizationId: string;
  text: string;
  limit: number;
}

/** By name and slug; archived ones too. */
export function listPipelinesNamed(db: Reader, { organizationId, text, limit }: NameSearch) {
  const { pipelines } = db.tables;
  const { id, slug, name, archivedAt } = pipelines;
  const { matches, rank } = match([slug, name], text);
  return db
    .select({ id, slug, name, archivedAt })
    .from(pipelines)
    .where(and(eq(pipelines.organizationId, organizationId), isNull(pipelines.deletedAt), matches))
    .orderBy(rank, asc(slug))
    .limit(limit);
}

/** By name. */
export function listClustersNamed(db: Reader, { organizationId, text, limit }: NameSearch) {
  const { clusters } = db.tables;
  const { id, name } = clusters;
  const { matches, rank } = match([name], text);
  return db
    .select({ id, name })
    .from(clusters)
    .where(and(eq(clusters.organizationId, organizationId), isNull(clusters.deletedAt), matches))
    .orderBy(rank, asc(name))
    .limit(limit);
}

/** By key, with their clusters. */
export function listQueuesNamed(db: Reader, { organizationId, text, limit }: NameSearch) {
  const { clusters, queues } = db.tables;
  const { id, key } = queues;
  const { matches, rank } = match([key], text);
  const isOfOrganization = and(eq(clusters.organizationId, organizationId), isNull(clusters.deletedAt));
  const isOfCluster = and(eq(queues.clusterId, clusters.id), isNull(queues.deletedAt));
  return (
    db
      .select({ id, key, cluster: { id: clusters.id, name: clusters.name } })
      .from(clusters)
      // An inner join would let SQLite read the queues of all organizations first.
      .crossJoin(queues)
      .where(and(isOfOrganization, isOfCluster, matches))
      .orderBy(rank, asc(key), asc(clusters.name))
      .limit(limit)
  );
}

/** As lists have them. */
const listedStates: AgentState[] = ["connected", "lost"];

/** Agents that did not disconnect. */
export function listAgentsNamed(db: Reader, { organizationId, text, limit }: NameSearch) {
  const { agents } = db.tables;
  const { id, name, hostname, state } = agents;
  const { matches, rank } = match([name], text);
  return db
    .select({ id, name, hostname, state })
    .from(agents)
    .where(and(eq(agents.organizationId, organizationId), inArray(state, listedStates), matches))
    .orderBy(rank, asc(name), asc(id))
    .limit(limit);
}

/** By name and address. */
export function listMembersNamed(db: Reader, { organizationId, text, limit }: NameSearch) {
  const { members, users } = db.tables;
  const { id, name, email } = users;
  const { matches, rank } = match([name, email], text);
  return db
    .select({ id, name, email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organizationId, organizationId), matches))
    .orderBy(rank, asc(email))
    .limit(limit);
}

/**
 * Names that contain a text. The name that equals the text comes first, then names that begin with it. The database
 * makes lower case of both: SQLite knows ASCII only.
 */
function match(columns: SQLiteColumn[], text: string): { matches: SQL | undefined; rank: SQL } {
  const literal = text.replace(/[\\%_]/g, "\\$&");
  const isLike = (pattern: string) =>
    or(...columns.map((column) => sql`lower(${column}) like lower(${pattern}) escape '\\'`));
  const rank = sql`case when ${isLike(literal)} then 0 when ${isLike(`${literal}%`)} then 1 else 2 end`;
  return { matches: isLike(`%${literal}%`), rank };
}
