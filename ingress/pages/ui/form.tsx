import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from "preact";
import { asSentence, type FormProblems } from "./problems.ts";
import { useVisitor } from "./rendering.ts";

/** For every posted form. */
export function CsrfField() {
  return <input type="hidden" name="csrf_token" value={useVisitor()?.csrfToken} />;
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

/**
 * Fields that few people need.
 * @param names of the fields: a problem of one unfolds them
 */
export function FoldedFields({
  id,
  title = "More settings",
  names,
  problems = [],
  isOpen = false,
  children,
}: {
  id: string;
  title?: string;
  names: readonly string[];
  problems?: FormProblems | undefined;
  isOpen?: boolean;
  children: ComponentChildren;
}) {
  return (
    <details id={id} class="fold" open={isOpen || problems.some(({ field }) => names.includes(field))}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

/**
 * A field with its label. The problems that name the field are said beside it.
 * @param api its name in the API, if the label does not say it
 */
export function Field({
  label,
  name,
  hint,
  api,
  problems,
  ...input
}: {
  label: string;
  name: string;
  hint?: ComponentChildren;
  api?: string | undefined;
  problems?: FormProblems | undefined;
} & InputHTMLAttributes) {
  const id = `field-${name}`;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <input id={id} name={name} {...input} {...described({ name, hint, api, problems })} />
      <Notes name={name} hint={hint} api={api} problems={problems} />
    </p>
  );
}

interface Described {
  name: string;
  hint?: ComponentChildren;
  api?: string | undefined;
  problems: FormProblems | undefined;
}

/** Names the notes of a field, and marks a wrong one. */
function described({ name, hint, api, problems = [] }: Described) {
  const isWrong = problems.some(({ field }) => field === name);
  const ids = [isWrong && `field-${name}-problem`, (hint || api) && `field-${name}-hint`].filter(Boolean);
  return {
    ...(ids.length > 0 && { "aria-describedby": ids.join(" ") }),
    ...(isWrong && { "aria-invalid": true, autofocus: true }),
  };
}

/** The problems of a field, and its hint. */
function Notes(described: Described) {
  return (
    <>
      <Problem {...described} />
      <Hint {...described} />
    </>
  );
}

function Problem({ name, problems = [] }: Pick<Described, "name" | "problems">) {
  const own = problems.filter(({ field }) => field === name);
  if (own.length === 0) return null;
  return (
    <span class="problem" id={`field-${name}-problem`}>
      {asSentence(own)}
    </span>
  );
}

function Hint({ name, hint, api }: Omit<Described, "problems">) {
  if (!hint && !api) return null;
  return (
    <span class="quiet" id={`field-${name}-hint`}>
      {hint}
      {hint && api && " "}
      {api && `In the API: ${api}.`}
    </span>
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
  required = false,
  hint,
  api,
  problems,
}: {
  label: string;
  name: string;
  value: string;
  options: readonly Option[];
  groups?: { label: string; options: Option[] }[];
  required?: boolean;
  hint?: string;
  api?: string | undefined;
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
      <select id={id} name={name} required={required} {...described({ name, hint, api, problems })}>
        {options.map(render)}
        {groups.map((group) => (
          <optgroup key={group.label} label={group.label}>
            {group.options.map(render)}
          </optgroup>
        ))}
      </select>
      <Notes name={name} hint={hint} api={api} problems={problems} />
    </p>
  );
}

/** The most things that a select offers. */
export const maxChoices = 1000;

/** For a field that takes code. */
export const codeField = { class: "code", autocomplete: "off", spellcheck: false } as const;

/** For a field of several lines that takes a condition or a filter. */
export const conditionField = { ...codeField, class: "code condition" } as const;

/** A field of several lines. It may be higher than a phone, so its problems stand above it. */
export function TextArea({
  label,
  name,
  value,
  hint,
  api,
  problems,
  ...rest
}: {
  label: string;
  name: string;
  value?: string | undefined;
  hint?: ComponentChildren;
  api?: string | undefined;
  problems?: FormProblems | undefined;
} & TextareaHTMLAttributes) {
  const id = `field-${name}`;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <Problem name={name} problems={problems} />
      <textarea id={id} name={name} rows={3} {...rest} {...described({ name, hint, api, problems })}>
        {value}
      </textarea>
      <Hint name={name} hint={hint} api={api} />
    </p>
  );
}

export function Check({
  label,
  name,
  value = "1",
  checked,
  hint,
  api,
}: {
  label: string;
  name: string;
  value?: string;
  checked: boolean;
  hint?: ComponentChildren;
  api?: string | undefined;
}) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value={value} checked={checked} />
      <span>
        {label}
        {api && <span class="quiet"> ({api} in the API)</span>}
        {hint && <span class="quiet hint">{hint}</span>}
      </span>
    </label>
  );
}

/** Boxes of one field, any number of which can be ticked. */
export function CheckGroup({
  label,
  children,
  ...notes
}: Described & { label: string; children: ComponentChildren }) {
  const { "aria-invalid": isWrong, ...description } = described(notes);
  return (
    <fieldset class="field" {...description} {...(isWrong && { tabIndex: -1 })}>
      <legend>{label}</legend>
      {children}
      <Notes {...notes} />
    </fieldset>
  );
}

/**
 * A posted form, with its problems, its button and a link that cancels it.
 * @param id of the row that it creates, if any
 * @param back where Cancel leads
 */
export function PostForm({
  path,
  id,
  problems,
  button,
  back,
  children,
}: {
  path: string;
  id?: string;
  problems?: FormProblems | undefined;
  button: string;
  back?: string;
  children?: ComponentChildren;
}) {
  return (
    <form method="post" action={path}>
      <CsrfField />
      {id && <input type="hidden" name="id" value={id} />}
      <FormError problems={problems} />
      {children}
      <p class="actions">
        <button type="submit">{button}</button>
        {back && <LinkButton kind="secondary" href={back} text="Cancel" />}
      </p>
    </form>
  );
}

/** @param fields hidden ones, by name */
export function PostButton({
  path,
  fields = {},
  class: className,
  title,
  children,
}: {
  path: string;
  fields?: Record<string, string | number>;
  class?: string;
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <form method="post" action={path}>
      <CsrfField />
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={className} title={title}>
        {children}
      </button>
    </form>
  );
}

/**
 * A link that looks like a button.
 * @param kind default: the color of buttons that send
 * @param hidden a text for screen readers, which tells links with the same text apart
 */
export function LinkButton({
  kind,
  href,
  text,
  hidden,
}: {
  kind?: "secondary" | "danger";
  href: string;
  text: string;
  hidden?: string;
}) {
  return (
    <a class={kind ? `button ${kind}` : "button"} href={href}>
      {text}
      {hidden && <span class="hidden"> {hidden}</span>}
    </a>
  );
}

/**
 * A menu behind "…" of what is seldom needed.
 * @param kind a class of its own
 */
export function MoreMenu({
  kind,
  title = "More",
  children,
}: {
  kind?: string;
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <details class={kind ? `menu ${kind}` : "menu"} id="more">
      <summary>
        <span aria-hidden="true">…</span>
        <span class="hidden">{title}</span>
      </summary>
      {children}
    </details>
  );
}
