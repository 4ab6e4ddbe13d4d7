import { and, asc, eq, gte, inArray, lt, sql, sum } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Reader, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import { lowestIdAt, timeOfId } from "../ids.ts";
import type { FigureName } from "../vocabulary.ts";

type Row = Tables["figures"]["$inferSelect"];
/** A figure of a minute or an hour. */
export type Figure = Omit<Row, "minutes">;

/** Figures of minutes and hours, in the order of time. @param names default: all */
export async function listFigures(
  db: Reader,
  subjectIds: string[],
  since: Date,
  names?: readonly FigureName[],
): Promise<Figure[]> {
  if (subjectIds.length === 0) return [];
  const { figures } = db.tables;
  const { subjectId, time, figure, value } = figures;
  return db
    .select({ subjectId, time, figure, value })
    .from(figures)
    .where(and(inArray(subjectId, subjectIds), gte(time, since), names ? inArray(figure, names) : undefined))
    .orderBy(asc(subjectId), asc(time));
}

/** Sums the figures of all subjects at each time. @param minutes of the rows that are summed */
export async function listSumsByTime(
  db: Reader,
  { subjectIds, names, minutes, since }: SummedFigures,
): Promise<Omit<Figure, "subjectId">[]> {
  const { figures } = db.tables;
  const { subjectId, time, figure, value } = figures;
  return db
    .select({ time, figure, value: sum(value).mapWith(Number) })
    .from(figures)
    .where(
      and(
        inArray(subjectId, subjectIds),
        gte(time, since),
        inArray(figure, names),
        eq(figures.minutes, minutes),
      ),
    )
    .groupBy(time, figure);
}

interface SummedFigures {
  subjectIds: string[];
  names: readonly FigureName[];
  minutes: number;
  since: Date;
}

export async function sumFigures(
  db: Reader,
  id: string,
  names: readonly FigureName[],
  since: Date,
): Promise<Map<FigureName, number>> {
  const { subjectId, time, figure, value } = db.tables.figures;
  const rows = await db
    .select({ figure, total: sum(value).mapWith(Number) })
    .from(db.tables.figures)
    .where(and(eq(subjectId, id), gte(time, since), inArray(figure, names)))
    .groupBy(figure);
  return new Map(rows.map((row) => [row.figure, row.total]));
}

export async function listMinute(db: Reader, names: readonly FigureName[], minute: Date): Promise<Figure[]> {
  const { figures } = db.tables;
  const isOfMinute = and(inArray(figures.figure, names), eq(figures.minutes, 1), eq(figures.time, minute));
  return db.select().from(figures).where(isOfMinute);
}

export async function putMinutes(tx: Tx, rows: Figure[]): Promise<void> {
  const { figures } = tx.tables;
  await tx
    .insert(figures)
    .values(rows.map((row) => ({ ...row, minutes: 1 })))
    .onConflictDoUpdate({ target: keyOf(figures), set: { value: sql`excluded.value` } });
}

export async function addToHours(tx: Tx, rows: Figure[]): Promise<void> {
  const { figures } = tx.tables;
  if (rows.length === 0) return;
  await tx
    .insert(figures)
    .values(rows.map((row) => ({ ...row, minutes: 60 })))
    .onConflictDoUpdate({
      target: keyOf(figures),
      set: { value: sql`${figures.value} + excluded.value` },
    });
}

/** Stores values that are higher than the stored ones. */
export async function putIfHigher(tx: Tx, rows: Figure[], minutes: number): Promise<void> {
  const { figures } = tx.tables;
  if (rows.length === 0) return;
  await tx
    .insert(figures)
    .values(rows.map((row) => ({ ...row, minutes })))
    .onConflictDoUpdate({
      target: keyOf(figures),
      set: { value: sql`excluded.value` },
      setWhere: lt(figures.value, sql`excluded.value`),
    });
}

/** Deletes the oldest rows of a figure. Concurrent calls get different rows. */
export async function takeFiguresBefore(
  tx: Tx,
  { figure, minutes, time }: Pick<Row, "figure" | "minutes" | "time">,
  limit: number,
): Promise<Figure[]> {
  const { figures } = tx.tables;
  const key = {
    subjectId: figures.subjectId,
    time: figures.time,
    figure: figures.figure,
    minutes: figures.minutes,
  };
  const old = tx
    .select(key)
    .from(figures)
    .where(and(eq(figures.figure, figure), eq(figures.minutes, minutes), lt(figures.time, time)))
    .orderBy(asc(figures.time))
    .limit(limit);
  return tx
    .delete(figures)
    .where(sql`(${key.subjectId}, ${key.time}, ${key.figure}, ${key.minutes}) in ${old}`)
    .returning();
}

function keyOf({ subjectId, time, figure, minutes }: Tables["figures"]) {
  return [subjectId, time, figure, minutes];
}

/** Finds the time of the first id in a column that was made at `from` or later. */
export async function findTimeOfNextId(db: Reader, id: SQLiteColumn, from: Date): Promise<Date | undefined> {
  const [found] = await db
    .select({ id: sql<string>`${id}` })
    .from(id.table)
    .where(gte(id, lowestIdAt(from)))
    .orderBy(asc(id))
    .limit(1);
  return found && timeOfId(found.id);
}

const progressOf = (source: string) => `${source}_counted_to`;

/** The last minute that was counted. */
export async function findProgress(db: Db, source: string): Promise<Date | undefined> {
  const stored = await findSharedValue(db, progressOf(source));
  return stored === undefined ? undefined : new Date(Number(stored));
}

/** Locks the progress. @returns false if it is no longer `from` */
export async function moveProgressIf(
  tx: Tx,
  source: string,
  from: Date | undefined,
  to: Date,
): Promise<boolean> {
  const { settings } = tx.tables;
  const [present] = await tx.lock(settings, eq(settings.name, progressOf(source)), "exclusive");
  if (present?.value !== (from && String(from.getTime()))) return false;
  await putSharedValue(tx, progressOf(source), String(to.getTime()));
  return true;
}
