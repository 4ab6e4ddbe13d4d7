import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from "preact";
import type { Visitor } from "../../auth/session.ts";
import { asSentence, type FormProblems } from "./problems.ts";

/** For every posted form. */
export function CsrfField({ visitor }: { visitor: Visitor }) {
  return <input type="hidden" name="csrf_token" value={visitor.csrfToken} />;
}

/**
 * Why a form was refused, if it was. Takes the focus unless a field is marked.
 * @param children default: the problems as a sentence
 */
export function FormError({
  problems,
  children = problems && asSentence(problems),
}: {
  problems?: FormProblems | undefined;
  children?: ComponentChildren;
}) {
  if (!children) return null;
  const isFieldMarked = problems?.some(({ field }) => field !== "");
  const focus = isFieldMarked ? {} : { tabIndex: -1, autofocus: true };
  return (
    <p class="error" {...focus} role="alert" id="form-error">
      {children}
    </p>
  );
}

/** Says beside it the problems that name it. */
export function Field({
  label,
  name,
  hint,
  problems,
  ...input
}: {
  label: string;
  name: string;
  hint?: string;
  problems?: FormProblems | undefined;
} & InputHTMLAttributes) {
  const id = `field-${name}`;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <input id={id} name={name} {...input} {...described({ name, hint, problems })} />
      <Notes name={name} hint={hint} problems={problems} />
    </p>
  );
}

interface Described {
  name: string;
  hint: ComponentChildren;
  problems: FormProblems | undefined;
}

/** Names the notes of a field, and marks a wrong one. */
function described({ name, hint, problems = [] }: Described) {
  const isWrong = problems.some(({ field }) => field === name);
  const ids = [isWrong && `field-${name}-problem`, hint && `field-${name}-hint`].filter(Boolean);
  return {
    ...(ids.length > 0 && { "aria-describedby": ids.join(" ") }),
    ...(isWrong && { "aria-invalid": true, autofocus: true }),
  };
}

/** The problems of a field, and its hint. */
function Notes({ name, hint, problems = [] }: Described) {
  const own = problems.filter(({ field }) => field === name);
  return (
    <>
      {own.length > 0 && (
        <span class="problem" id={`field-${name}-problem`}>
          {asSentence(own)}
        </span>
      )}
      {hint && (
        <span class="quiet" id={`field-${name}-hint`}>
          {hint}
        </span>
      )}
    </>
  );
}

/** Enter presses the first button of a form: this one, where others come before the one that sends it. */
export function DefaultButton() {
  return (
    <button type="submit" class="default" tabIndex={-1} aria-hidden="true">
      Send
    </button>
  );
}

type Option = readonly [value: string, text: string];

export function Select({
  label,
  name,
  value,
  options,
  groups = [],
  hint,
  problems,
}: {
  label: string;
  name: string;
  value: string;
  options: readonly Option[];
  groups?: { label: string; options: Option[] }[];
  hint?: string;
  problems?: FormProblems | undefined;
}) {
  const render = ([each, text]: Option) => (
    <option key={each} value={each} selected={each === value}>
      {text}
    </option>
  );
  const id = `field-${name}`;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} {...described({ name, hint, problems })}>
        {options.map(render)}
        {groups.map((group) => (
          <optgroup key={group.label} label={group.label}>
            {group.options.map(render)}
          </optgroup>
        ))}
      </select>
      <Notes name={name} hint={hint} problems={problems} />
    </p>
  );
}

export function TextArea({
  label,
  name,
  value,
  hint,
  problems,
  ...rest
}: {
  label: string;
  name: string;
  value?: string | undefined;
  hint?: ComponentChildren;
  problems?: FormProblems | undefined;
} & TextareaHTMLAttributes) {
  const id = `field-${name}`;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <textarea id={id} name={name} rows={3} {...rest} {...described({ name, hint, problems })}>
        {value}
      </textarea>
      <Notes name={name} hint={hint} problems={problems} />
    </p>
  );
}

export function Check({
  label,
  name,
  value = "1",
  checked,
  hint,
}: {
  label: string;
  name: string;
  value?: string;
  checked: boolean;
  hint?: ComponentChildren;
}) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value={value} checked={checked} />
      <span>
        {label}
        {hint && <span class="quiet hint">{hint}</span>}
      </span>
    </label>
  );
}

/** @param id of the row that it creates, if any */
export function PostButton({
  visitor,
  path,
  id,
  class: className,
  children,
}: {
  visitor: Visitor;
  path: string;
  id?: string | undefined;
  class?: string;
  children: ComponentChildren;
}) {
  return (
    <form method="post" action={path}>
      <CsrfField visitor={visitor} />
      {id && <input type="hidden" name="id" value={id} />}
      <button type="submit" class={className}>
        {children}
      </button>
    </form>
  );
}
