import { and, asc, eq, gt, inArray, lt, notExists } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import {
  capTotal,
  countUpTo,
  type ListedRows,
  type ListPage,
  listedRows,
  readerFor,
} from "../../db/list-page.ts";
import { findRow } from "../../db/rows.ts";
import type { EntryStanding } from "../../vocabulary.ts";
import { orderOfGroup } from "./decide-store.ts";
import type { Group } from "./entries-store.ts";
import type { JobOfGroup } from "./holders-store.ts";

/** A group with how many jobs hold it and wait for it: at most `maxCounted` are counted of each. */
export interface CountedGroup extends Group {
  holders: number;
  waiting: number;
}

/** Groups of an organization that have entries, by name. @param after the name of the last one before */
export async function listGroups(
  db: Db,
  organizationId: string,
  { after, limit, maxCounted }: { after: string; limit: number; maxCounted: number },
): Promise<CountedGroup[]> {
  const { concurrencyGroups: groups, concurrencyMembers: entries } = db.tables;
  const found = await db
    .select()
    .from(groups)
    .where(and(eq(groups.organizationId, organizationId), gt(groups.name, after)))
    .orderBy(asc(groups.name))
    .limit(limit);
  const count = (groupId: string, standing: EntryStanding) =>
    countUpTo(db, entries, and(eq(entries.groupId, groupId), eq(entries.standing, standing)), maxCounted);
  const counted: CountedGroup[] = [];
  for (const group of found) {
    const [holders, limited, waiting] = [
      await count(group.id, "holding"),
      await count(group.id, "limited"),
      await count(group.id, "waiting"),
    ];
    counted.push({ ...group, holders, waiting: limited + waiting });
  }
  return counted;
}

export async function findGroup(db: Db, organizationId: string, id: string): Promise<Group | undefined> {
  const { concurrencyGroups: groups } = db.tables;
  return findRow(db, groups, and(eq(groups.id, id), eq(groups.organizationId, organizationId)));
}

export interface ListedEntry extends JobOfGroup {
  pipelineName: string;
  limit: number;
  isEager: boolean;
  priority: number;
  orderedAt: Date;
}

/** Entries of a group of one standing, in its order. Pages are found by their offset. */
export async function listEntries(
  db: Db,
  { groupId, standing }: { groupId: string; standing: EntryStanding },
  page: ListPage,
): Promise<ListedRows<ListedEntry>> {
  const { concurrencyMembers: entries, builds, pipelines } = db.tables;
  const { jobId, limit, isEager, priority, orderedAt } = entries;
  const isEntry = and(eq(entries.groupId, groupId), eq(entries.standing, standing));
  const total = capTotal(await countUpTo(db, entries, isEntry));
  const rows = await readerFor(db, page.offset)
    .select({
      jobId,
      limit,
      isEager,
      priority,
      orderedAt,
      buildNumber: builds.number,
      pipelineSlug: pipelines.slug,
      pipelineName: pipelines.name,
    })
    .from(entries)
    .innerJoin(builds, eq(builds.id, entries.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(isEntry)
    .orderBy(...orderOfGroup(db))
    .limit(page.limit + 1)
    .offset(page.offset);
  return listedRows(rows, page, {
    total,
    cursorOf: (row) => ({ number: row.orderedAt.getTime(), id: row.jobId }),
  });
}

/** Deletes groups without entries that are older than a time, among the next ones. @returns the last that it looked at */
export async function deleteEmptyGroups(
  tx: Tx,
  { afterId, before, limit }: { afterId: string; before: Date; limit: number },
): Promise<{ deleted: number; lastId: string | undefined }> {
  const { concurrencyGroups: groups, concurrencyMembers: entries } = tx.tables;
  const next = await tx
    .select({ id: groups.id })
    .from(groups)
    .where(and(gt(groups.id, afterId), lt(groups.createdAt, before)))
    .orderBy(asc(groups.id))
    .limit(limit);
  const ids = next.map(({ id }) => id);
  if (ids.length === 0) return { deleted: 0, lastId: undefined };
  const entry = tx.select({ jobId: entries.jobId }).from(entries).where(eq(entries.groupId, groups.id));
  const deleted = await tx
    .delete(groups)
    .where(and(inArray(groups.id, ids), notExists(entry)))
    .returning({ id: groups.id });
  return { deleted: deleted.length, lastId: ids.length === limit ? ids.at(-1) : undefined };
}
