import { type ComponentChildren, Fragment } from "preact";
import { type AnyMembers, isRequired, type Request } from "../../../shared/members/member.ts";
import { maxLengthOf } from "../../../shared/validation.ts";
import { Check, codeField, Field, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { Fact } from "../ui/tables.tsx";
import { apiNameOf, type Draft, type FieldMember, listFields } from "./draft.ts";

/**
 * The fields of a form that creates or changes a row.
 * @param columns of the members that have them, in this order. Default: all, in the order of the members
 * @param own fields by column, in place of the ordinary ones; null: none. Every choice is one, because pages know what
 * there is to choose
 */
export function MemberFields({
  members,
  when,
  draft,
  problems,
  columns,
  own = {},
}: {
  members: AnyMembers;
  when: Request;
  draft: Draft | undefined;
  problems: FormProblems | undefined;
  columns?: readonly string[];
  own?: Record<string, ComponentChildren>;
}) {
  const all = listFields(members).filter((member) => member[when] ?? Object.hasOwn(own, member.column));
  const fields = columns?.flatMap((each) => all.filter(({ column }) => column === each)) ?? all;
  return (
    <>
      {fields.map((member) => (
        <Fragment key={member.column}>
          {Object.hasOwn(own, member.column) ? (
            own[member.column]
          ) : (
            <MemberField member={member} value={draft?.[member.column]} problems={problems} />
          )}
        </Fragment>
      ))}
    </>
  );
}

const nameField = { autocomplete: "off", spellcheck: false } as const;

function MemberField({
  member,
  value,
  problems,
}: {
  member: FieldMember;
  value: string | undefined;
  problems: FormProblems | undefined;
}) {
  const { kind, placeholder, ...words } = member.field;
  const required = isRequired(member);
  const api = apiNameOf(member);
  const common = { ...words, api, value, problems };
  if (kind === "code")
    return <TextArea {...common} required={required} placeholder={placeholder} {...codeField} />;
  if (kind === "check")
    return <Check label={words.label} api={api} name={words.name} checked={value === "true"} />;
  if (kind === "number") return <Field {...common} type="number" min={1} />;
  const schema = member.create ?? member.change;
  // A text that becomes something else, such as a list, has no longest form.
  const maxLength = schema && !member.fromText ? maxLengthOf(schema) : undefined;
  if (kind === "text") return <TextArea {...common} rows={2} maxLength={maxLength} />;
  return <Field {...common} maxLength={maxLength} required={required} {...(kind === "name" && nameField)} />;
}

/** The facts of members whose values are text. One without a value is left out. @param besides columns that the page shows itself */
export function MemberFacts<Row extends object>({
  members,
  row,
  besides,
}: {
  members: AnyMembers;
  row: Row;
  besides: (keyof Row & string)[];
}) {
  const shown = listFields(members).filter(({ column }) => !besides.some((each) => each === column));
  return (
    <>
      {shown.map(({ column, field }) => {
        const value = row[column as keyof Row];
        return <Fact key={column} name={field.label} value={value === null ? null : String(value)} />;
      })}
    </>
  );
}
