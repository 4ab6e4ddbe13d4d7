import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { presentMembers, shownOf, valueIn } from "../../../shared/members/answers.ts";
import { type AnyMembers, listMembers, type Objects } from "../../../shared/members/member.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { graphqlId } from "../../../shared/presenters/graphql-id.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import type { Config } from "../../../shared/settings/config.ts";

/** Where an answer is made. */
export interface AnswerContext {
  config: Config;
  organization: Organization;
  /** The slug of the organization. */
  org: string;
  /** At least those of `userIdsOf`. */
  users: ReadonlyMap<string, User>;
}

/** A member of an answer. A value that is undefined is left out. */
export type AnswerMember<Row> = readonly [
  schema: z.ZodType,
  value: (row: Row, context: AnswerContext) => unknown,
  userIdOf?: (row: Row) => string | null,
];

/** The JSON of a row, with its schema. */
export interface Answer<Row> {
  schema: z.ZodType;
  present(row: Row, context: AnswerContext): object;
  /** The users in it. */
  userIdsOf(row: Row): string[];
}

/**
 * Makes an answer of its members, in this order.
 * @param id its name in the OpenAPI document
 */
export function answerOf<Row>(id: string, members: Record<string, AnswerMember<Row>>): Answer<Row> {
  const all = Object.entries(members);
  return {
    schema: z.object(Object.fromEntries(all.map(([name, [schema]]) => [name, schema]))).meta({ id }),
    present: (row, context) =>
      Object.fromEntries(all.map(([name, [, value]]) => [name, value(row, context)])),
    userIdsOf: (row) => all.flatMap(([, [, , userIdOf]]) => userIdOf?.(row) ?? []),
  };
}

/** The members that a resource declares, and that answers have. */
export function declared(members: AnyMembers, objects: Objects = {}): Record<string, AnswerMember<object>> {
  const shown = listMembers(members).filter((member) => member.shown !== null);
  const byName = Map.groupBy(shown, ({ name, shownAs = name }) => shownAs.split(".")[0] ?? "");
  return Object.fromEntries(
    Object.entries(shownOf(members, objects)).map(([name, schema]) => {
      const own = byName.get(name) ?? [];
      const [first] = own;
      if (first && (first.shownAs ?? first.name) === name)
        return [name, [schema, (row) => valueIn(row, first)]];
      const inner = Object.fromEntries(own.map((member) => [member.column, member]));
      return [name, [schema, (row) => presentMembers(inner, row)[name]]];
    }),
  );
}

export function identified(type: Parameters<typeof graphqlId>[0]) {
  return {
    id: [field.id, ({ id }: { id: string }) => id],
    graphql_id: [field.graphql, ({ id }: { id: string }) => graphqlId(type, id)],
  } as const;
}

/** The user with the id that a row has. */
export function user<Row>(
  idOf: (row: Row) => string | null,
  schema: z.ZodType = userSchema,
): AnswerMember<Row> {
  return [schema, (row, { config, users }) => presentUserById(config, users, idOf(row)), idOf];
}

export const created = {
  created_at: [field.timestamp, ({ createdAt }: { createdAt: Date }) => createdAt],
  created_by: user(({ createdById }: { createdById: string }) => createdById),
} as const;

export const updated = {
  updated_at: [field.timestamp, ({ updatedAt }: { updatedAt: Date }) => updatedAt],
  updated_by: user(({ updatedById }: { updatedById: string }) => updatedById),
} as const;
