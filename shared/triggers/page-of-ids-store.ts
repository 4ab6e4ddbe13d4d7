import { gt, lt } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

/** A page of a list with the newest first. */
export interface PageOfIds {
  limit: number;
  /** Only what is older than this id. */
  after?: string;
  /** Only what is newer, nearest to it. */
  before?: string;
}

/** The condition that a page puts on the id of its rows. */
export function isInPage(id: SQLiteColumn, { after, before }: PageOfIds) {
  if (before) return gt(id, before);
  return after ? lt(id, after) : undefined;
}
