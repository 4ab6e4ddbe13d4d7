import type { Problem } from "../../../shared/refusal.ts";
import { environment, filterExpression, signingSecret } from "../../../shared/triggers/input.ts";
import type { TriggerType } from "../../../shared/triggers/types.ts";
import { problemsOf } from "../../../shared/validation.ts";
import { Check, Field, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";

// Fields of a trigger's form that are more than a line of text. Checks name REST members.

const maxLineProblems = 5;

/** 100 names, the values of 64 KB that they may have together, and comments. */
const maxEnvironmentCharacters = 96 * 1024;
/** A form writes most characters but letters and digits as three. */
export const triggerFormOptions = { maxFormBytes: 4 * maxEnvironmentCharacters };

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

export function EnvironmentField({
  label = "Environment variables",
  value,
  problems,
}: {
  label?: string;
  value: string;
  problems: FormProblems;
}) {
  return (
    <TextArea
      label={label}
      name="environment"
      value={value}
      problems={problems}
      maxLength={maxEnvironmentCharacters}
      rows={4}
      class="code"
      autocomplete="off"
      spellcheck={false}
      hint={
        <>
          One <code>NAME=value</code> per line, set for every build. Blank lines and lines that start with #
          are left out. Everybody who can read builds can read these: do not put secrets here.
        </>
      }
    />
  );
}

/** Keeps or replaces the variables of a saved trigger. */
export function EnvironmentChoice({
  names,
  isReplaced,
  value,
  problems,
}: {
  names: string[];
  isReplaced: boolean;
  value: string;
  problems: FormProblems;
}) {
  return (
    <fieldset class="environment">
      <legend>Environment variables</legend>
      <p>
        {names.length === 0
          ? "None are set."
          : names.map((name, index) => (
              <>
                {index > 0 && ", "}
                <code>{name}</code>
              </>
            ))}
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
        <EnvironmentField label="New variables" value={value} problems={problems} />
      </div>
    </fieldset>
  );
}

export function TypeField({ types, value }: { types: TriggerType[]; value: string }) {
  return (
    <fieldset class="types">
      <legend>Type</legend>
      {types.map(({ stored, name, title, signatures }) => (
        <label class="check" key={name}>
          <input
            type="radio"
            name="type"
            value={name}
            class={signatures.length > 0 ? `signs ${stored}` : undefined}
            checked={name === value}
            required
          />
          <span>
            {title}
            <span class="quiet hint">
              {signatures.length > 0
                ? `Webhooks of ${title}, which can be verified`
                : "Anything that can post JSON"}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/**
 * The hint names the chosen sender: its style sheet hides the others.
 * @param types those that sign deliveries
 * @param secretEnd undefined without a saved secret
 */
export function VerificationField({
  types,
  draft: { isVerified, secret, isGenerated },
  secretEnd,
  problems,
}: {
  types: TriggerType[];
  draft: { isVerified: boolean; secret: string; isGenerated: boolean };
  secretEnd: string | undefined;
  problems: FormProblems;
}) {
  const isNew = secretEnd === undefined;
  const endHint = secretEnd ? `, which ends in ${secretEnd}` : "";
  return (
    <fieldset class="verification">
      <legend>Verification</legend>
      <Check
        label="Verify deliveries"
        name="verify"
        checked={isVerified}
        hint={types.map(({ stored, title }) => (
          <span key={stored} class={`sender ${stored}`}>
            Take only what {title} sent with the secret, or signed with it.
          </span>
        ))}
      />
      <Field
        label={isNew ? "Secret" : "New secret"}
        name="secret"
        class="mono"
        {...(isGenerated
          ? {
              type: "text",
              value: secret,
              autocomplete: "off",
              spellcheck: false,
              autofocus: !problems.length,
            }
          : { type: "password", autocomplete: "new-password" })}
        maxLength={1000}
        problems={problems}
        hint={
          isGenerated
            ? "Copy it to the sender now: it is not shown again after you save."
            : isNew
              ? "The one that the sender has."
              : `Empty: the present one stays${endHint}.`
        }
      />
      {isGenerated && <input type="hidden" name="generated" value="1" />}
      <p class="actions">
        <button type="submit" name="do" value="generate" class="secondary" formNoValidate>
          Generate
        </button>
      </p>
    </fieldset>
  );
}

export function FilterField({
  value,
  isKept,
  problems,
}: {
  value: string;
  isKept: boolean;
  problems: FormProblems;
}) {
  return (
    <TextArea
      label="Filter"
      name="filter"
      value={value}
      problems={problems}
      maxLength={256}
      rows={2}
      class="code"
      autocomplete="off"
      spellcheck={false}
      hint={
        isKept ? (
          "Filters are no longer available to this organization. This one still applies; it can only be removed."
        ) : (
          <>
            A <abbr title="Common Expression Language">CEL</abbr> expression: only deliveries for which it is
            true make a build. Empty: all do. For example{" "}
            <code>webhook.headers.HTTP_X_GITHUB_EVENT == "push"</code> or{" "}
            <code>webhook.payload.ref == "refs/heads/main"</code>
          </>
        )
      }
    />
  );
}

/** Refuses a secret without verification: its owner would believe that deliveries are verified. */
export function checkSecret(
  { isVerified, secret }: { isVerified: boolean; secret: string },
  isRequired: boolean,
): Problem[] {
  const member = "verification.secret";
  if (!isVerified)
    return secret ? [{ field: member, message: "Secret is of use only with Verify deliveries" }] : [];
  return secret || isRequired ? problemsOf(signingSecret, secret, member) : [];
}

export function checkFilter(filter: string): Problem[] {
  return filter ? problemsOf(filterExpression, filter, "filter.expression") : [];
}
