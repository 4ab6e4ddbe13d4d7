import { and, asc, eq, isNull, max, type SQL, sql } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { preparedRow } from "../../db/prepared.ts";
import { patternOf } from "../../db/schema/agents.ts";

interface Pattern {
  organizationId: string;
  /** A name with its `%n`, or all of a name without one. */
  pattern: string;
}

function isOfPattern({ tables: { agents } }: Tx): SQL | undefined {
  return and(
    eq(agents.organizationId, sql.placeholder("organizationId")),
    eq(patternOf(agents), sql.placeholder("pattern")),
    sql`${agents.state} <> 'disconnected'`, // a literal, as in the index
  );
}

/** The first number from one on that no agent has. It reads the index in order, up to that number. */
const firstGap = preparedRow<Pattern & { from: number }, { number: number }, Tx>((tx) => {
  const { agents } = tx.tables;
  const { nameNumber } = agents;
  const from = sql`cast(${sql.placeholder("from")} as integer)`;
  const place = sql<number>`${from} - 1 + row_number() over (order by ${nameNumber})`
    .mapWith(Number)
    .as("place");
  const isLater = and(isOfPattern(tx), sql`${nameNumber} >= ${from}`);
  const numbers = tx.select({ number: nameNumber, place }).from(agents).where(isLater).as("numbers");
  return tx
    .select({ number: numbers.place })
    .from(numbers)
    .where(sql`${numbers.number} > ${numbers.place}`)
    .orderBy(asc(numbers.place))
    .limit(1);
});

const highestNumber = preparedRow<Pattern, { number: number | null }, Tx>((tx) => {
  const { agents } = tx.tables;
  return tx
    .select({ number: max(agents.nameNumber) })
    .from(agents)
    .where(isOfPattern(tx));
});

/** The lowest number from one on that no agent has which has not disconnected. */
export async function findFreeNumber(tx: Tx, given: Pattern & { from: number }): Promise<number> {
  const gap = await firstGap(tx, given);
  if (gap) return gap.number;
  const highest = (await highestNumber(tx, given))?.number ?? 0;
  return Math.max(given.from, highest + 1);
}

const literallyNamed = preparedRow<Pattern, { id: string }, Tx>((tx) => {
  const { agents } = tx.tables;
  return tx
    .select({ id: agents.id })
    .from(agents)
    .where(and(isOfPattern(tx), isNull(agents.nameNumber)))
    .limit(1);
});

/** Returns true if an agent that has not disconnected has this name, and not by a number. */
export async function isNamed(tx: Tx, given: Pattern): Promise<boolean> {
  return (await literallyNamed(tx, given)) !== undefined;
}
