import type { TriggerType } from "../../../shared/triggers/types.ts";
import { Check, Field, TextArea } from "../ui/form.tsx";
import type { TriggerDraft } from "./draft.ts";
import type { WrongField } from "./form-error.tsx";

/** Half of what a trigger can have: a form holds 64 KB, in which = and line breaks are written as three and six. */
const maxEnvironmentCharacters = 32 * 1024;

/** What sends to the trigger. */
export function TypeField({ types, value }: { types: TriggerType[]; value: string }) {
  return (
    <fieldset class="types">
      <legend>Type</legend>
      {types.map(({ name, title, signature }) => (
        <label class="check" key={name}>
          <input
            type="radio"
            name="type"
            value={name}
            class={signature && "signs"}
            checked={name === value}
            required
          />
          <span>
            {title}
            <span class="quiet hint">
              {signature ? `Webhooks of ${title}, which can be verified` : "Anything that can post JSON"}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The name of the trigger, and what its builds are like. */
export function BuildFields({ draft, wrong }: { draft: TriggerDraft; wrong: WrongField }) {
  return (
    <>
      <Field
        label="Description"
        name="label"
        value={draft.label}
        maxLength={255}
        required
        isWrong={wrong === "label"}
        hint="Its name in the list of triggers."
      />
      <Field
        label="Branch"
        name="branch"
        value={draft.branch}
        maxLength={1000}
        isWrong={wrong === "branch"}
        hint="main when empty."
      />
      <Field
        label="Commit"
        name="commit"
        value={draft.commit}
        maxLength={1000}
        isWrong={wrong === "commit"}
        hint="HEAD when empty."
      />
      <Field
        label="Build message"
        name="message"
        value={draft.message}
        maxLength={1000}
        isWrong={wrong === "message"}
        hint="Triggered build when empty. Nothing in a payload changes branch, commit or message."
      />
    </>
  );
}

export function EnabledField({ checked }: { checked: boolean }) {
  return (
    <Check label="Enabled" name="enabled" checked={checked} hint="A disabled trigger refuses deliveries." />
  );
}

export function EnvironmentField({
  label = "Environment variables",
  value,
  wrong,
}: {
  label?: string;
  value: string;
  wrong: WrongField;
}) {
  return (
    <TextArea
      label={label}
      name="environment"
      value={value}
      maxLength={maxEnvironmentCharacters}
      isWrong={wrong === "environment"}
      rows={4}
      class="code"
      autocomplete="off"
      spellcheck={false}
      hint={
        <>
          One <code>NAME=value</code> per line, set for every build. Blank lines and lines that start with #
          are left out. Values are not shown again.
        </>
      }
    />
  );
}

/** The variables of a trigger that there is: their names, and whether others take their place. */
export function ChangedEnvironmentField({
  names,
  draft,
  wrong,
}: {
  names: string[];
  draft: TriggerDraft;
  wrong: WrongField;
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
        <input type="radio" name="environment_choice" value="keep" checked={!draft.replacesEnvironment} />
        Keep as they are
      </label>
      <label class="check">
        <input type="radio" name="environment_choice" value="replace" checked={draft.replacesEnvironment} />
        Replace all
      </label>
      <div class="replacement">
        <EnvironmentField label="New variables" value={draft.environment} wrong={wrong} />
      </div>
    </fieldset>
  );
}

/**
 * @param of the titles of the types that sign what they send
 * @param secretHint of the secret that there is: undefined when there is none
 */
export function VerificationField({
  of,
  draft,
  wrong,
  secretHint,
}: {
  of: string[];
  draft: TriggerDraft;
  wrong: WrongField;
  secretHint?: string | undefined;
}) {
  const isNew = secretHint === undefined;
  return (
    <fieldset class="verification">
      <legend>Verification</legend>
      <Check
        label="Verify deliveries"
        name="verify"
        checked={draft.isVerified}
        hint={`Take only what ${of.join(" or ")} signed with the secret.`}
      />
      <Field
        label={isNew ? "Secret" : "New secret"}
        name="secret"
        type="password"
        autocomplete="new-password"
        maxLength={1000}
        isWrong={wrong === "secret"}
        hint={isNew ? "The one that the sender signs with." : `Empty: the present one stays${secretHint}.`}
      />
    </fieldset>
  );
}

export function FilterField({ value, wrong }: { value: string; wrong: WrongField }) {
  return (
    <TextArea
      label="Filter"
      name="filter"
      value={value}
      maxLength={256}
      isWrong={wrong === "filter"}
      rows={2}
      class="code"
      autocomplete="off"
      spellcheck={false}
      hint={
        <>
          A <abbr title="Common Expression Language">CEL</abbr> expression: only deliveries for which it is
          true make a build. Empty: all do. For example{" "}
          <code>webhook.headers.HTTP_X_GITHUB_EVENT == "push"</code> or{" "}
          <code>webhook.payload.ref == "refs/heads/main"</code>
        </>
      }
    />
  );
}
