import type { z } from "zod";

/** A member of a kind of step. Requests, stored steps, answers, agents' variables and pages derive from it. */
export interface Member<Stored> {
  /** Schemas by the names under which callers give it. */
  given: Record<string, z.ZodType>;
  /** Makes the stored form. Undefined: the step does not have the member. */
  parse(given: Given): Stored | undefined;
  /** As it is stored, and as REST answers it. */
  stored: z.ZodType<Stored>;
  /** Variables for the job's agent, without their prefix. */
  variables?(stored: Stored | undefined): Record<string, string | undefined>;
  /** For pages, about the step: `in 4 jobs`. */
  words?(stored: Stored): string;
}

/** Members of a step, as their schemas leave them. */
export type Given = Record<string, unknown>;

/** The members of a kind of step, by their stored names. */
export type Members<Step> = { [Name in keyof Required<Step>]: Member<Required<Step>[Name]> };

type OutputsOf<Schemas> = { [Name in keyof Schemas]: z.output<Schemas[Name] & z.ZodType> };

/** Checks the types, then erases those of the given forms. */
export function member<Stored, Schemas extends Record<string, z.ZodType>>({
  given: schemas,
  parse,
  ...uses
}: Omit<Member<Stored>, "given" | "parse"> & {
  given: Schemas;
  /** Default: the first that is given. */
  parse?: (given: OutputsOf<Schemas>) => Stored | undefined;
}): Member<Stored> {
  const first = (given: Given) =>
    Object.keys(schemas)
      .map((name) => given[name])
      .find((value) => value !== undefined);
  return { given: schemas, parse: (parse ?? first) as Member<Stored>["parse"], ...uses };
}

/** The schemas of a member that callers may also give by other names. Each begins its messages by its name. */
export function named<Own extends string, Other extends string, Schema extends z.ZodType>(
  [own, ...others]: [Own, ...Other[]],
  schemaOf: (name: string) => Schema,
  description?: string,
): Record<Own | Other, Schema> {
  const schema = schemaOf(`Step ${own}`);
  return Object.fromEntries([
    [own, description ? schema.meta({ description }) : schema],
    ...others.map((other) => [
      other,
      schemaOf(`Step ${other}`).meta({ description: `Another name of ${own}, which wins` }),
    ]),
  ]);
}

/** The schemas of all given members. */
export function givenBy(members: Record<string, Member<unknown>>): Record<string, z.ZodType> {
  return Object.assign({}, ...Object.values(members).map(({ given }) => given));
}

/** The schemas of all stored members. */
export function storedBy(members: Record<string, Member<unknown>>): Record<string, z.ZodType> {
  const entries = Object.entries(members).map(([name, { stored }]) => [name, stored.optional()]);
  return Object.fromEntries(entries);
}

/** Parses given members into their stored forms. Leaves out members that the step does not have. */
export function parseMembers<Step>(members: Members<Step>, given: Given): Step {
  const parsed = Object.entries<Member<unknown>>(members).map(([name, each]) => [name, each.parse(given)]);
  return Object.fromEntries(parsed.filter(([, value]) => value !== undefined));
}
