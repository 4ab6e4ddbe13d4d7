import { z } from "zod";
import { type AnyMembers, listMembers, type Request } from "./member.ts";

type Shape<M extends AnyMembers, When extends Request> = {
  [Column in keyof M as M[Column] extends Record<When, z.ZodType> ? Column : never]: M[Column] extends Record<
    When,
    infer Schema extends z.ZodType
  >
    ? Schema
    : never;
};

/** The members that a request gives, by column. */
export type Given<M extends AnyMembers, When extends Request> = z.output<z.ZodObject<Shape<M, When>>>;

/** The schemas of a request's members, by the names that callers use. */
export function shapeOf(members: AnyMembers, when: Request): Record<string, z.ZodType> {
  const schemas = listMembers(members).map((member) => [member.name, member[when]] as const);
  return Object.fromEntries(schemas.filter((each): each is [string, z.ZodType] => each[1] !== undefined));
}

/** Reads a request's members, as callers name them, into columns. */
export function inputOf<M extends AnyMembers, When extends Request>(
  members: M,
  when: When,
): z.ZodType<Given<M, When>> {
  const body = z.object(shapeOf(members, when));
  return body.transform((given) => toColumns(members, given)) as unknown as z.ZodType<Given<M, When>>;
}

/** Names values by column. Leaves out those of no member. */
export function toColumns(members: AnyMembers, given: object): Record<string, unknown> {
  const columnOf = new Map(listMembers(members).map(({ name, column }) => [name, column]));
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const column = columnOf.get(name);
      return column === undefined ? [] : [[column, value]];
    }),
  );
}

/**
 * Reads the sound members of a request that has others, so that one answer has all problems.
 * @param sound members that match their schemas, as they were sent
 */
export function readSound<M extends AnyMembers, When extends Request>(
  members: M,
  when: When,
  sound: Record<string, unknown>,
): Partial<Given<M, When>> {
  const shape = shapeOf(members, when);
  const read = Object.entries(sound).map(([name, value]) => [name, shape[name]?.parse(value)]);
  return toColumns(members, Object.fromEntries(read)) as Partial<Given<M, When>>;
}
