import { and, asc, eq, isNotNull, sql } from "drizzle-orm";
import type { Tx } from "../db/database.ts";
import { isOneOf, prepared } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import { searchOfOwners } from "../tasks/owners-store.ts";

export type News = Tables["news"]["$inferSelect"];

export async function insertNews(tx: Tx, rows: News[]): Promise<void> {
  await tx.insertMany(tx.tables.news, rows);
}

/** Finds the next organization that has news. */
export const findNextOwner = searchOfOwners(({ news }) => news.organizationId);

/** News of an organization, oldest first. */
export const listNews = prepared<{ organizationId: string; limit: number }, News, Tx>((tx) => {
  const { news } = tx.tables;
  return tx
    .select()
    .from(news)
    .where(eq(news.organizationId, sql.placeholder("organizationId")))
    .orderBy(asc(news.id))
    .limit(sql.placeholder("limit"));
});

export const deleteNews = prepared<{ ids: string[] }, Pick<News, "id">, Tx>((tx) => {
  const { news } = tx.tables;
  return tx.delete(news).where(isOneOf(news.id, "ids")).returning({ id: news.id });
});

/** Locks an organization for the transaction that makes messages of its news. @returns false if another one does */
export async function lockOrganizationIfFree(tx: Tx, organizationId: string): Promise<boolean> {
  const { organizations } = tx.tables;
  return (await tx.lock(organizations, eq(organizations.id, organizationId), "if-free")).length > 0;
}

export type ServiceThatHears = Pick<Tables["notificationServices"]["$inferSelect"], "events">;

export function listServicesThatHear(tx: Tx, organizationId: string): Promise<ServiceThatHears[]> {
  const { notificationServices: services } = tx.tables;
  return tx
    .select({ events: services.events })
    .from(services)
    .where(and(eq(services.organizationId, organizationId), eq(services.enabled, true)));
}

/** Says if the organization has a source host that shows statuses. */
export async function hasHostThatHears(tx: Tx, organizationId: string): Promise<boolean> {
  const { repositoryConnections: connections } = tx.tables;
  const found = await tx
    .select({ id: connections.id })
    .from(connections)
    .where(
      and(
        eq(connections.organizationId, organizationId),
        eq(connections.publishStatuses, true),
        isNotNull(connections.tokenSealed),
      ),
    )
    .limit(1);
  return found.length > 0;
}

/** The builds, jobs or agents that news are about, each once. */
export function subjectsOf(news: readonly News[], name: "buildId" | "jobId" | "agentId"): string[] {
  return [...new Set(news.flatMap((each) => each[name] ?? []))];
}
