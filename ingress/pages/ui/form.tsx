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

/** Marked as wrong if a problem names it. */
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
  const isWrong = isMarked(name, problems);
  const describedBy = [isWrong && "form-error", hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        {...input}
        {...(describedBy && { "aria-describedby": describedBy })}
        {...(isWrong && { "aria-invalid": true, autofocus: true })}
      />
      {hint && (
        <span class="quiet" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </p>
  );
}

function isMarked(name: string, problems: FormProblems = []): boolean {
  return problems.some(({ field }) => field === name);
}

type Option = readonly [value: string, text: string];

export function Select({
  label,
  name,
  value,
  options,
  groups = [],
}: {
  label: string;
  name: string;
  value: string;
  options: readonly Option[];
  groups?: { label: string; options: Option[] }[];
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
      <select id={id} name={name}>
        {options.map(render)}
        {groups.map((group) => (
          <optgroup key={group.label} label={group.label}>
            {group.options.map(render)}
          </optgroup>
        ))}
      </select>
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
  hint: ComponentChildren;
  problems?: FormProblems | undefined;
} & TextareaHTMLAttributes) {
  const id = `field-${name}`;
  const isWrong = isMarked(name, problems);
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={3}
        aria-describedby={isWrong ? `form-error ${id}-hint` : `${id}-hint`}
        {...(isWrong && { "aria-invalid": true, autofocus: true })}
        {...rest}
      >
        {value}
      </textarea>
      <span class="quiet" id={`${id}-hint`}>
        {hint}
      </span>
    </p>
  );
}

export function Check({
  label,
  name,
  checked,
  hint,
}: {
  label: string;
  name: string;
  checked: boolean;
  hint?: string;
}) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="1" checked={checked} />
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
