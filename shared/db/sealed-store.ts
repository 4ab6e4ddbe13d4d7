import { and, asc, count, eq, gt, isNotNull, lt, type SQL, sql } from "drizzle-orm";
import { type SealedPlace, sealedPlaces } from "../crypto/sealed-places.ts";
import { sealingKey } from "./columns.ts";
import type { Reader, Tx } from "./database.ts";
import type { Tables } from "./schema.ts";

/** Names of keys are `:` and hexadecimal digits. In every collation they lie between these two texts. */
const firstName = ":";
const lastName = ":g";
const batchRows = 200;

/** Every column of sealed texts. Triggers come before builds, which copy their texts. */
export const sealedColumns = [
  "pipelines.environmentSealed",
  "triggers.environmentSealed",
  "triggers.secretSealed",
  "triggers.tokenSealed",
  "schedules.environmentSealed",
  "builds.environmentSealed",
  "builds.uploadedEnvironmentSealed",
  "repositoryConnections.tokenSealed",
  "notificationServices.secretSealed",
  "secrets.valueSealed",
  "signingKeys.privateKeySealed",
] as const;
export type SealedColumn = (typeof sealedColumns)[number];

/** Rows that are worth nothing without their sealed text: a lost key deletes them. */
const neededColumns: readonly SealedColumn[] = ["secrets.valueSealed", "signingKeys.privateKeySealed"];

/** Counts texts that are not sealed under the key, up to `max`. */
export function countSealedUnderOthers(db: Reader, keyName: string, max: number): Promise<number> {
  return countInRanges(db, rangesBetween([undefined, keyName, undefined]), max);
}

/** Counts texts that name another key than these, up to `max`. */
export function countSealedUnderUnknown(
  db: Reader,
  keyNames: readonly string[],
  max: number,
): Promise<number> {
  return countInRanges(db, rangesBetween([firstName, ...keyNames.toSorted(), lastName]), max);
}

/** Both bounds are exclusive. */
type Range = [above: string | undefined, below: string | undefined];

function rangesBetween(bounds: (string | undefined)[]): Range[] {
  return bounds.slice(1).map((bound, index) => [bounds[index], bound]);
}

async function countInRanges(db: Reader, ranges: Range[], max: number): Promise<number> {
  let total = 0;
  for (const name of sealedColumns) {
    const { table, id, column } = findColumn(db.tables, name);
    for (const range of ranges) {
      const some = db
        .select({ id })
        .from(table)
        .where(isIn(range, column))
        .limit(max - total)
        .as("some");
      const [found] = await db.select({ count: count() }).from(some);
      total += found?.count ?? 0;
      if (total >= max) return max;
    }
  }
  return total;
}

export interface SealedBatch {
  column: SealedColumn;
  /** Leaves out texts that name this key. */
  keyName: string;
  side: "below" | "above";
  /** Texts kept so far. */
  skipped: number;
}

/**
 * Replaces sealed texts whose key's name is below or above the given one.
 * @param rewrite returns undefined to keep the text, null to delete it
 * @returns the ids of the changed rows, of those that the caller has to delete whole, and how many texts were kept
 */
export async function rewriteBatch(
  tx: Tx,
  { column: name, keyName, side, skipped }: SealedBatch,
  rewrite: (sealed: string, place: SealedPlace) => string | null | undefined,
): Promise<{ changed: string[]; needless: string[]; kept: number; isLast: boolean }> {
  const { table, id, column, member } = findColumn(tx.tables, name);
  const range: Range = side === "below" ? [undefined, keyName] : [keyName, undefined];
  const rows = await tx
    .select({ id, sealed: sql<string>`${column}` })
    .from(table)
    .where(isIn(range, column))
    .orderBy(asc(sealingKey(column)), asc(id))
    .limit(batchRows)
    .offset(skipped);
  const changed: string[] = [];
  const needless: string[] = [];
  let kept = 0;
  for (const row of rows) {
    const text = rewrite(row.sealed, placeOf(name, row.id));
    if (text === undefined) kept++;
    else if (text === null && neededColumns.includes(name)) needless.push(row.id);
    else {
      // The text may have changed since it was read.
      const updated = await tx
        .update(table)
        .set({ [member]: text })
        .where(and(eq(id, row.id), eq(column, row.sealed)))
        .returning({ id });
      changed.push(...updated.map((each) => each.id));
    }
  }
  return { changed, needless, kept, isLast: rows.length < batchRows };
}

function isIn([above, below]: Range, column: ReturnType<typeof findColumn>["column"]): SQL | undefined {
  const key = sealingKey(column);
  const isNamed = above === undefined || below === undefined ? undefined : sql`substr(${key}, 1, 1) = ':'`;
  return and(
    isNotNull(column), // the indexes are partial
    above === undefined ? undefined : gt(key, above),
    below === undefined ? undefined : lt(key, below),
    isNamed,
  );
}

function placeOf(name: SealedColumn, id: string): SealedPlace {
  switch (name) {
    case "pipelines.environmentSealed":
      return sealedPlaces.variablesOfPipeline(id);
    case "triggers.secretSealed":
      return sealedPlaces.secretsOfTriggers;
    case "triggers.tokenSealed":
      return sealedPlaces.tokenOfTrigger(id);
    case "repositoryConnections.tokenSealed":
      return sealedPlaces.tokenOfConnection(id);
    case "notificationServices.secretSealed":
      return sealedPlaces.secretOfService(id);
    case "triggers.environmentSealed":
    case "schedules.environmentSealed":
    case "builds.environmentSealed":
    case "builds.uploadedEnvironmentSealed":
      return sealedPlaces.variablesOfBuilds;
    case "secrets.valueSealed":
      return sealedPlaces.valueOfSecret(id);
    case "signingKeys.privateKeySealed":
      return sealedPlaces.signingKey(id);
  }
}

function findColumn(tables: Tables, name: SealedColumn) {
  const [tableName, member] = name.split(".") as ["builds", "environmentSealed"];
  const table = tables[tableName];
  return { table, id: table.id, column: table[member], member };
}
