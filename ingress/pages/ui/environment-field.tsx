import { isDeepStrictEqual } from "node:util";
import type { Environment } from "../../../shared/pipelines/environment.ts";
import { type Problem, validationFailed } from "../../../shared/refusal.ts";
import { environment } from "../../../shared/triggers/members.ts";
import { problemsOf } from "../../../shared/validation.ts";
import { codeField, TextArea } from "./form.tsx";
import type { FormProblems } from "./problems.ts";
import { CodeList } from "./tables.tsx";

const maxLineProblems = 5;

/** The field has room for 100 names, 64 KB of values and some comments. */
const maxEnvironmentCharacters = 96 * 1024;
/** A form writes most characters but letters and digits as three. */
export const environmentFormOptions = { maxFormBytes: 4 * maxEnvironmentCharacters };

/** Reads one NAME=value per line. A value is everything after the first =, spaces and quotes included. */
export function readEnvironment(lines: string): {
  environment: Record<string, string>;
  problems: Problem[];
} {
  const variables = new Map<string, string>();
  const messages: string[] = [];
  for (const [index, line] of lines.split("\n").entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name = "", value] = /^([^=]*)(?:=(.*))?$/.exec(line) ?? [];
    const problem = findLineProblem(name, value, variables.has(name));
    if (problem) messages.push(`Line ${index + 1} of the environment variables ${problem}`);
    variables.set(name, value ?? "");
  }
  const values = Object.fromEntries(variables);
  const problems =
    messages.length > 0
      ? shorten(messages).map((message) => ({ field: "build.environment", message }))
      : problemsOf(environment, values, "build.environment");
  return { environment: values, problems };
}

function findLineProblem(name: string, value: string | undefined, isRepeated: boolean): string | undefined {
  if (value === undefined) return "has no = after a name";
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return "must start with a name of letters, digits and _, not starting with a digit";
  return isRepeated ? `sets ${name} again` : undefined;
}

function shorten(messages: string[]): string[] {
  const more = messages.length - maxLineProblems;
  return more > 0 ? [...messages.slice(0, maxLineProblems), `and ${more} more`] : messages;
}

/**
 * @param api the name of the member in the API
 * @param builds the builds that get the variables
 */
export function EnvironmentField({
  label = "Environment variables",
  builds = "every build",
  api = "env",
  value,
  problems,
}: {
  label?: string;
  builds?: string;
  api?: string;
  value: string;
  problems: FormProblems;
}) {
  return (
    <TextArea
      label={label}
      api={api}
      name="environment"
      value={value}
      problems={problems}
      maxLength={maxEnvironmentCharacters}
      rows={4}
      {...codeField}
      hint={
        <>
          One <code>NAME=value</code> per line, set for {builds}. Blank lines and lines that start with # are
          left out. Everybody who can read builds can read these: do not put secrets here.
        </>
      }
    />
  );
}

/** Says if a form replaces the saved variables. A blank field adds none where there are none. */
export function replacesEnvironment(form: URLSearchParams): boolean {
  const choice = form.get("environment_choice");
  return choice === "replace" || (choice === "first" && Boolean(form.get("environment")?.trim()));
}

/**
 * First variables replace none that somebody saved after the form was opened. The same ones, sent twice, are fine. Call
 * with the row locked: of two forms that are sent at once, the second finds what the first saved.
 * @throws Refusal 422
 */
export function requireNoneSaved(form: URLSearchParams, saved: Environment): void {
  const isFirst = form.get("environment_choice") === "first" && replacesEnvironment(form);
  if (!isFirst || Object.keys(saved).length === 0) return;
  if (isDeepStrictEqual(saved, readEnvironment(form.get("environment") ?? "").environment)) return;
  const message = "Variables were added meanwhile: these would replace them";
  throw validationFailed({ field: "build.environment", message });
}

/** Keeps or replaces the saved variables. Where there are none, it asks for the first ones. */
export function EnvironmentChoice({
  names,
  isReplaced,
  ...field
}: {
  names: string[];
  isReplaced: boolean;
  api?: string;
  value: string;
  problems: FormProblems;
}) {
  if (names.length === 0)
    return (
      <>
        <input type="hidden" name="environment_choice" value="first" />
        <EnvironmentField {...field} />
      </>
    );
  return (
    <fieldset class="environment">
      <legend>Environment variables</legend>
      <p>
        <CodeList names={names} />
      </p>
      <label class="check">
        <input type="radio" name="environment_choice" value="keep" checked={!isReplaced} />
        Keep as they are
      </label>
      <label class="check">
        <input type="radio" name="environment_choice" value="replace" checked={isReplaced} />
        Replace all
      </label>
      <div class="replacement">
        <EnvironmentField label="New variables" {...field} />
      </div>
    </fieldset>
  );
}
