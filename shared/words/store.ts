import { and, asc, desc, eq, gt, inArray, lt, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/database.ts";
import { isOneOfRows } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import { maxMessageCharacters, nameOf, type SearchedTexts, wordsOfBuild } from "./words.ts";

export type SearchWord = Tables["searchWords"]["$inferSelect"];

/** Rows with ids between these two. */
export interface IdRange {
  above: string;
  below: string;
  order: "oldest first" | "newest first";
}

export type BuildTexts = SearchedTexts &
  Pick<Tables["builds"]["$inferSelect"], "id" | "organizationId" | "pipelineId" | "branch">;

export function listBuildTexts(
  db: Reader | Tx,
  { above, below, order }: IdRange,
  limit: number,
): PromiseLike<BuildTexts[]> {
  const { id } = db.tables.builds;
  return db
    .select(textColumns(db))
    .from(db.tables.builds)
    .where(and(gt(id, above), lt(id, below)))
    .orderBy(inOrder[order](id))
    .limit(limit);
}

export function textsOfBuilds(db: Reader | Tx, ids: string[]): PromiseLike<BuildTexts[]> {
  const { builds } = db.tables;
  return db.select(textColumns(db)).from(builds).where(inArray(builds.id, ids));
}

const inOrder = { "oldest first": asc, "newest first": desc };

/** As much of the messages as is searched. */
export function textColumns({ tables: { builds } }: Pick<Reader, "tables">) {
  const { id, organizationId, pipelineId, branch, author } = builds;
  const message = sql<string>`substr(${builds.message}, 1, ${sql.raw(String(maxMessageCharacters))})`;
  return { id, organizationId, pipelineId, branch, author, message };
}

interface DeliveryName {
  id: string;
  organizationId: string;
  externalId: string | null;
}

export function listDeliveryNames(
  tx: Tx,
  { above, below, order }: IdRange,
  limit: number,
): PromiseLike<DeliveryName[]> {
  const { id } = tx.tables.deliveries;
  return namesOfDeliveries(tx)
    .where(and(gt(id, above), lt(id, below)))
    .orderBy(inOrder[order](id))
    .limit(limit);
}

function namesOfDeliveries(tx: Tx) {
  const { deliveries, triggers, pipelines } = tx.tables;
  const { id, externalId } = deliveries;
  return tx
    .select({ id, externalId, organizationId: pipelines.organizationId })
    .from(deliveries)
    .innerJoin(triggers, eq(triggers.id, deliveries.triggerId))
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId));
}

/** In the order of their index, so that neighbors share its pages. Those that are there already stay. */
export async function insertWords(tx: Tx, words: SearchWord[]): Promise<void> {
  const keyOf = ({ organizationId, kind, word }: SearchWord) => `${organizationId} ${kind} ${word}`;
  const inOrder = words
    .map((each) => ({ each, key: keyOf(each) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ each }) => each);
  await tx.insertMany(tx.tables.searchWords, inOrder, "on conflict do nothing");
}

/** Call it before builds are deleted, in the same transaction. */
export async function deleteWordsOfBuilds(tx: Tx, ids: string[]): Promise<void> {
  const found = await textsOfBuilds(tx, ids);
  await deleteWords(
    tx,
    found.flatMap((build) => [...wordsOfMessage(build), wordOfBranch(build)]),
  );
}

/** Call it before deliveries are deleted, in the same transaction. */
export async function deleteWordsOfDeliveries(tx: Tx, ids: string[]): Promise<void> {
  const found = await namesOfDeliveries(tx).where(inArray(tx.tables.deliveries.id, ids));
  await deleteWords(tx, found.flatMap(wordOfDelivery));
}

async function deleteWords(tx: Tx, words: SearchWord[]): Promise<void> {
  if (words.length === 0) return;
  const { searchWords } = tx.tables;
  const { organizationId, kind, word, subjectId } = searchWords;
  const rows = words.map((each) => [each.organizationId, each.kind, each.word, each.subjectId]);
  const deletion = tx
    .delete(searchWords)
    .where(isOneOfRows([organizationId, kind, word, subjectId], "rows"))
    .prepare();
  await deletion.execute({ rows });
}

export function wordsOfMessage(build: BuildTexts): SearchWord[] {
  const { id: subjectId, organizationId } = build;
  return wordsOfBuild(build).map((word) => ({ organizationId, kind: "word", word, subjectId }));
}

export function wordOfBranch({ id: subjectId, organizationId, branch }: BuildTexts): SearchWord {
  return { organizationId, kind: "branch", word: nameOf(branch), subjectId };
}

export function wordOfDelivery({ id: subjectId, organizationId, externalId }: DeliveryName): SearchWord[] {
  return externalId ? [{ organizationId, kind: "delivery", word: nameOf(externalId), subjectId }] : [];
}
