import { z } from "zod";
import { type AnyMembers, listMembers, type NamedMember, nest, type Objects } from "./member.ts";

/** The schemas of members in answers, by name. */
export function shownOf(members: AnyMembers, objects: Objects = {}): Record<string, z.ZodType> {
  const schemas = listMembers(members).flatMap(({ name, shownAs = name, shown }) =>
    shown ? [[shownAs, shown] as const] : [],
  );
  return nest<z.ZodType>(schemas, (name, shape) => (objects[name] ?? z.object)(shape));
}

/** The members of a row in answers. An object in which none has a value is null. */
export function presentMembers<Row extends object>(members: AnyMembers, row: Row): Record<string, unknown> {
  const shown = listMembers(members).filter((member) => member.shown !== null);
  const values = shown.map((member) => [member.shownAs ?? member.name, valueIn(row, member)] as const);
  return nest<unknown>(values, (_, inner) =>
    Object.values(inner).some((value) => value !== undefined) ? inner : null,
  );
}

/** The value of a member in answers. */
export function valueIn(row: object, { show, column }: NamedMember): unknown {
  return show ? show(row as never) : row[column as keyof object];
}
