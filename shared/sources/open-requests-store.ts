import { and, eq, inArray, lt, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { isOneOf, prepared } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import type { PullRequest } from "./happened.ts";

type Row = Tables["openRequests"]["$inferSelect"];
export type OpenRequest = Omit<Row, "facts"> & { facts: PullRequest };
export type RequestKey = Pick<Row, "pipelineId" | "number">;

/** A branch may have a request for each of some base branches. */
const maxRows = 1000;

/** Without an order, for which SQLite would read all requests of the pipeline. */
const selectOfBranches = prepared<{ pipelineId: string; branches: string[] }, Row>((db) => {
  const { openRequests } = db.tables;
  const isOfPipeline = eq(openRequests.pipelineId, sql.placeholder("pipelineId"));
  return db
    .select()
    .from(openRequests)
    .where(and(isOfPipeline, isOneOf(openRequests.branch, "branches")))
    .limit(maxRows);
});

/** The open requests of some branches of a pipeline. */
export async function listOpenRequests(
  db: Db | Tx,
  pipelineId: string,
  branches: string[],
): Promise<OpenRequest[]> {
  const rows = await selectOfBranches(db, { pipelineId, branches });
  return rows as unknown as OpenRequest[];
}

/** Keeps what is newer already. */
export async function putOpenRequests(tx: Tx, requests: OpenRequest[]): Promise<void> {
  const { openRequests } = tx.tables;
  if (requests.length === 0) return;
  const rows = requests.map(({ facts, ...row }): Row => ({ ...row, facts: { ...facts } }));
  await tx
    .insert(openRequests)
    .values(rows)
    .onConflictDoUpdate({
      target: [openRequests.pipelineId, openRequests.number],
      set: {
        branch: sql`excluded.branch`,
        facts: sql`excluded.facts`,
        updatedAt: sql`excluded.updated_at`,
      },
      setWhere: sql`${openRequests.updatedAt} <= excluded.updated_at`,
    });
}

export async function deleteOpenRequests(tx: Tx, keys: RequestKey[]): Promise<void> {
  const { openRequests } = tx.tables;
  if (keys.length === 0) return;
  const isMeant = ({ pipelineId, number }: RequestKey) =>
    and(eq(openRequests.pipelineId, pipelineId), eq(openRequests.number, number));
  await tx.delete(openRequests).where(or(...keys.map(isMeant)));
}

/** @returns the number deleted */
export async function deleteOpenRequestsBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { openRequests } = tx.tables;
  const { pipelineId, number, updatedAt } = openRequests;
  const old = await tx
    .select({ pipelineId, number })
    .from(openRequests)
    .where(lt(updatedAt, time))
    .limit(limit);
  await deleteOpenRequests(tx, old);
  return old.length;
}

/** Deletes the first `maxRows` requests of a pipeline. Others go by their age. */
export async function deleteOpenRequestsOf(tx: Tx, id: string): Promise<void> {
  const { pipelineId, number } = tx.tables.openRequests;
  const first = tx.select({ number }).from(tx.tables.openRequests).where(eq(pipelineId, id)).limit(maxRows);
  await tx.delete(tx.tables.openRequests).where(and(eq(pipelineId, id), inArray(number, first)));
}
