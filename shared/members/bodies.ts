import { z } from "zod";
import { type AnyMembers, listMembers, nest, type Objects, type Request } from "./member.ts";

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
export function shapeOf(
  members: AnyMembers,
  when: Request,
  objects: Objects = {},
): Record<string, z.ZodType> {
  const schemas = listMembers(members).map((member) => [member.name, member[when]] as const);
  const given = schemas.filter((each): each is [string, z.ZodType] => each[1] !== undefined);
  return nest(given, (name, shape) => (objects[name] ?? z.object)(shape));
}

/** Reads a request's members, as callers name them, into columns. */
export function inputOf<M extends AnyMembers, When extends Request>(
  members: M,
  when: When,
  objects: Objects = {},
): z.ZodType<Given<M, When>> {
  const body = (objects[""] ?? z.object)(shapeOf(members, when, objects));
  return body.transform((given) => toColumns(members, given as object)) as unknown as z.ZodType<
    Given<M, When>
  >;
}

/** Names values by column. Values of no member are left out. The members of an object that is null are null. */
export function toColumns(members: AnyMembers, given: object): Record<string, unknown> {
  const read = (name: string) =>
    name.split(".").reduce<unknown>((at, key) => at && (at as Record<string, unknown>)[key], given);
  return Object.fromEntries(listMembers(members).map(({ name, column }) => [column, read(name)]));
}

/**
 * Reads the sound members of a request that has others, so that one answer has all problems.
 * @param sound members that match their schemas, as they were sent
 */
export function readSound<M extends AnyMembers, When extends Request>(
  members: M,
  when: When,
  sound: Record<string, unknown>,
  objects: Objects = {},
): Partial<Given<M, When>> {
  const shape = shapeOf(members, when, objects);
  const read = Object.entries(sound).map(([name, value]) => [name, shape[name]?.parse(value)]);
  return toColumns(members, Object.fromEntries(read)) as Partial<Given<M, When>>;
}
