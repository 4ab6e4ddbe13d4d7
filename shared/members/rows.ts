import { blankToNull } from "../validation.ts";
import { type AnyMember, type AnyMembers, listMembers } from "./member.ts";

type Values<Row, Column extends keyof Row> = { [C in Column]?: Row[C] | null | undefined };

/** The columns of members in a new row. Blank text is none. */
export function newColumns<Row, Column extends keyof Row & string>(
  members: Record<Column, AnyMember>,
  given: Values<Row, Column>,
): Pick<Row, Column> {
  const columns = Object.keys(members) as Column[];
  return Object.fromEntries(
    columns.map((column) => [
      column,
      given[column] === undefined ? (members[column].default ?? null) : toStored(given[column]),
    ]),
  ) as Pick<Row, Column>;
}

/** The columns that a change sets. Absent members stay; blank text is none. */
export function changedColumns<Row>(change: Values<Row, keyof Row>): Partial<Row> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([column, value]) => [column, toStored(value)])) as Partial<Row>;
}

function toStored(value: unknown): unknown {
  return typeof value === "string" ? blankToNull(value) : value;
}

/** The columns in entries of the audit log about a change: those with values, and those with their names only. */
export function auditedColumns<Row>(members: AnyMembers) {
  const columns = (how: "values" | "name") =>
    [
      ...new Set(
        listMembers(members).flatMap(({ audited, column, stored = column }) =>
          audited === how ? [stored] : [],
        ),
      ),
    ] as (keyof Row & string)[];
  return { shown: columns("values"), named: columns("name") };
}
