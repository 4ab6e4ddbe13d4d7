import { and, count, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import type { WordKind } from "../vocabulary.ts";
import { endOfRange } from "./words.ts";

// Each statement reads ranges of the one index that `search_words` has.

/** Words of one kind in an organization. */
export interface WordScope {
  organizationId: string;
  kind: WordKind;
}

/** More words are left out: more letters find them. */
const maxWords = 40;

const value = (name: string) => sql.placeholder(name);

function isOfScope({ tables: { searchWords } }: Reader): SQL | undefined {
  return and(eq(searchWords.organizationId, value("organizationId")), eq(searchWords.kind, value("kind")));
}

/** Words that begin with a text. */
function isInRange(db: Reader): SQL | undefined {
  const { word } = db.tables.searchWords;
  return and(isOfScope(db), gte(word, value("beginning")), lt(word, value("end")));
}

const counted = prepared<
  WordScope & { beginning: string; end: string; max: number },
  { total: number },
  Reader
>((db) => {
  const { searchWords } = db.tables;
  const some = db
    .select({ word: searchWords.word })
    .from(searchWords)
    .where(isInRange(db))
    .limit(value("max"));
  return db.select({ total: count() }).from(some.as("some"));
});

/** Counts the rows of words that begin with a text, up to `max`. */
export async function countWords(
  db: Reader,
  scope: WordScope,
  beginning: string,
  max: number,
): Promise<number> {
  const [row] = await counted(db, { ...scope, beginning, end: endOfRange(beginning), max });
  return row?.total ?? 0;
}

const different = prepared<
  WordScope & { beginning: string; end: string; limit: number },
  { word: string },
  Reader
>((db) => {
  const { searchWords } = db.tables;
  const { word } = searchWords;
  const first = db.select({ word }).from(searchWords).where(isInRange(db)).orderBy(word).limit(1);
  // A second lower bound would let SQLite read all rows between the two.
  const isNext = and(isOfScope(db), sql`${word} > found.word`, lt(word, value("end")));
  const next = db.select({ word }).from(searchWords).where(isNext).orderBy(word).limit(1);
  const found = sql`(with recursive found(word, place) as (
    select first.word, 1 from (${first}) as first
    union all select (${next}), place + 1 from found where found.word is not null and place < ${value("limit")}
  ) select word from found where word is not null) as found_words`;
  return db.select({ word: sql<string>`word` }).from(found);
});

/**
 * Different words that begin with a text, in their order. Skips from one to the next in the index: a word may have a
 * million builds.
 */
export async function listWords(
  db: Reader,
  scope: WordScope,
  beginning: string,
  limit = maxWords,
): Promise<string[]> {
  const found = await different(db, { ...scope, beginning, end: endOfRange(beginning), limit });
  return found.map(({ word }) => word);
}

type SubjectValues = WordScope & Record<string, string | number | null>;

/** A statement for each of a few numbers of words, with places for as many. */
const newest = new Map(
  [1, 8, maxWords].map((words) => {
    const read = prepared<SubjectValues, { id: string }, Reader>((db) => {
      const { searchWords } = db.tables;
      const { subjectId, word } = searchWords;
      const lists = Array.from({ length: words }, (_, index) => {
        const isOfWord = and(isOfScope(db), eq(word, value(`word${index}`)));
        return sql`select * from (select ${subjectId} from ${searchWords} where ${isOfWord} order by ${subjectId} desc limit ${value("ofEach")}) as newest`;
      });
      return db
        .select({ id: sql<string>`subject_id` })
        .from(sql`(${sql.join(lists, sql` union all `)}) as subjects`)
        .orderBy(sql`subject_id desc`)
        .limit(value("limit"));
    });
    return [words, read];
  }),
);

/**
 * The newest subjects of each of these words, newest first. One that has several of them comes several times.
 * @param words at most `maxWords`
 */
export async function listSubjects(
  db: Reader,
  scope: WordScope,
  words: string[],
  { ofEach, limit }: { ofEach: number; limit: number },
): Promise<string[]> {
  if (words.length === 0) return [];
  const [size = maxWords, read] = [...newest].find(([places]) => places >= words.length) ?? [];
  // No word equals null. Blank ids of senders are stored as empty words.
  const places = Array.from({ length: size }, (_, index) => [`word${index}`, words[index] ?? null]);
  const found = (await read?.(db, { ...scope, ...Object.fromEntries(places), ofEach, limit })) ?? [];
  return found.map(({ id }) => id);
}
