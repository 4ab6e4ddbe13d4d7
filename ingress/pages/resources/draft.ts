import type { z } from "zod";
import {
  type AnyMembers,
  listMembers,
  type MemberField,
  type NamedMember,
} from "../../../shared/members/member.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import { toProblems } from "../../../shared/validation.ts";
import type { FieldNames } from "../ui/problems.ts";

/** Texts in the fields of a form, by the columns of its members. Absent: the form has no such field. */
export type Draft = Readonly<Record<string, string>>;

/** A member that forms have. */
export interface FieldMember extends NamedMember {
  field: MemberField & { name: string };
}

export function listFields(members: AnyMembers): FieldMember[] {
  return listMembers(members).flatMap((member) =>
    member.field ? [{ ...member, field: { name: member.name, ...member.field } }] : [],
  );
}

/** Reads a form. Browsers send line breaks as CRLF, which would break keys and scripts. */
export function readDraft(members: AnyMembers, form: URLSearchParams): Draft {
  const given = listFields(members).filter(({ field }) => form.has(field.name));
  return Object.fromEntries(
    given.map(({ column, field }) => {
      const text = (form.get(field.name) ?? "").replaceAll("\r\n", "\n");
      return [column, field.kind === "code" ? text : text.trim()];
    }),
  );
}

/** @param row default: a new one, without values */
export function draftOf(members: AnyMembers, row: object = {}): Draft {
  const values = row as Record<string, unknown>;
  return Object.fromEntries(listFields(members).map(({ column }) => [column, String(values[column] ?? "")]));
}

/**
 * Reads a draft as REST reads a body. An empty choice is null.
 * @throws Refusal 422
 */
export function parseDraft<Input>(schema: z.ZodType<Input>, members: AnyMembers, draft: Draft): Input {
  const given = listFields(members).filter(({ column }) => draft[column] !== undefined);
  const body = given.map(({ column, name, field }) => [
    name,
    field.kind === "choice" && draft[column] === "" ? null : draft[column],
  ]);
  const { data, error } = schema.safeParse(Object.fromEntries(body));
  if (error) throw validationFailed(...toProblems(error));
  return data;
}

/** The fields that problems mark. Choices are not among them: forms offer valid ones only. */
export function fieldNamesOf(members: AnyMembers): FieldNames {
  const marked = listFields(members).filter(({ field }) => field.kind !== "choice");
  return Object.fromEntries(marked.map(({ name, field }) => [name, field.name]));
}
