import type { z } from "zod";
import {
  type AnyMembers,
  listMembers,
  type MemberField,
  type NamedMember,
  nest,
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

/** The name of a member in the API, if the label of its field does not say it. */
export function apiNameOf({ name, field }: FieldMember): string | undefined {
  const said = field.label.toLowerCase().replaceAll(/[ -]/g, "_");
  const isSaid = name.replaceAll(".", "_") === said || name.split(".").at(-1) === said;
  return isSaid ? undefined : name;
}

export function readDraft(members: AnyMembers, form: URLSearchParams): Draft {
  const given = listFields(members).filter(({ field }) => form.has(field.name) || field.kind === "check");
  return Object.fromEntries(
    given.map(({ column, field }) => {
      if (field.kind === "check") return [column, String(form.has(field.name))];
      const text = form.get(field.name) ?? "";
      return [column, field.kind === "code" ? text : text.trim()];
    }),
  );
}

/** @param row default: a new one, without values */
export function draftOf(members: AnyMembers, row: object = {}): Draft {
  const values = row as Record<string, unknown>;
  return Object.fromEntries(listFields(members).map(({ column }) => [column, String(values[column] ?? "")]));
}

/** The body of REST that says what a draft says. */
export function bodyOf(members: AnyMembers, draft: Draft): Record<string, unknown> {
  const values = listFields(members).flatMap(({ column, name, field, fromText }) => {
    const text = draft[column];
    return text === undefined ? [] : [[name, fromText ? fromText(text) : toValue(text, field.kind)] as const];
  });
  return nest(values, (_, inner) => inner);
}

/** A text that is no number stays one, and is refused. */
function toValue(text: string, kind: MemberField["kind"]): unknown {
  if (kind === "check") return text === "true";
  if (kind === "number" && /^\d+$/.test(text)) return Number(text);
  return text === "" && (kind === "choice" || kind === "number") ? null : text;
}

/**
 * Reads a draft as REST reads a body.
 * @throws Refusal 422
 */
export function parseDraft<Input>(schema: z.ZodType<Input>, members: AnyMembers, draft: Draft): Input {
  const { data, error } = schema.safeParse(bodyOf(members, draft));
  if (error) throw validationFailed(...toProblems(error));
  return data;
}

/** The fields that problems mark. Choices are not among them: forms offer valid ones only. */
export function fieldNamesOf(members: AnyMembers): FieldNames {
  const marked = listFields(members).filter(({ field }) => field.kind !== "choice");
  return Object.fromEntries(marked.map(({ name, field }) => [name, field.name]));
}
