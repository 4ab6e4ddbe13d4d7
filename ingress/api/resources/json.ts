import type { z } from "zod";
import { type AnyMembers, listMembers } from "../../../shared/members/member.ts";

/** The schemas of members in answers, by name. */
export function shownOf(members: AnyMembers): Record<string, z.ZodType> {
  return Object.fromEntries(
    listMembers(members).flatMap(({ name, shown }) => (shown ? [[name, shown]] : [])),
  );
}

/** The members of a row in answers. */
export function presentMembers<Row extends object>(members: AnyMembers, row: Row): Record<string, unknown> {
  const shown = listMembers(members).filter((member) => member.shown !== null);
  return Object.fromEntries(
    shown.map((member) => [
      member.name,
      member.show ? member.show(row as never) : row[member.column as keyof Row],
    ]),
  );
}
