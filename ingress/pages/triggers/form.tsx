import { randomBytes } from "node:crypto";
import type { Actor } from "../../../shared/accounts/audit.ts";
import { type Problem, validationFailed } from "../../../shared/refusal.ts";
import type { Config } from "../../../shared/settings/config.ts";
import {
  buildText,
  type NewTrigger,
  type TriggerChange,
  triggerLabel,
} from "../../../shared/triggers/input.ts";
import { newTriggerProblems, triggerChangeProblems } from "../../../shared/triggers/members.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildDefaults, hmacDefaults, type TriggerType } from "../../../shared/triggers/types.ts";
import { maxLengthOf, problemsOf, requiredText, text } from "../../../shared/validation.ts";
import { EnvironmentChoice, EnvironmentField, readEnvironment } from "../ui/environment-field.tsx";
import { Check, DefaultButton, Field, FormError } from "../ui/form.tsx";
import { asSentence, type FieldNames, type FormProblems } from "../ui/problems.ts";
import { FilterField } from "./filter-field.tsx";
import {
  checkSecret,
  checkSignature,
  readSignature,
  signatureFields,
  TypeField,
  type VerificationDraft,
  VerificationField,
} from "./verification.tsx";

/** The form of a trigger, as it starts or was sent. */
export interface TriggerDraft extends VerificationDraft {
  type: string;
  label: string;
  branch: string;
  commit: string;
  message: string;
  enabled: boolean;
  /** Lines of NAME=value. */
  environment: string;
  /** Editing only: true if `environment` replaces the saved variables. */
  replacesEnvironment: boolean;
  filter: string;
}

/** `member`: the name in the REST API. */
const textFields = [
  {
    name: "label",
    member: "label",
    label: "Description",
    maxLength: maxLengthOf(triggerLabel),
    required: true,
    hint: "Its name in the list of triggers.",
  },
  {
    name: "branch",
    member: "build.branch",
    label: "Branch",
    maxLength: maxLengthOf(buildText.branch),
    required: false,
    hint: "main when empty.",
  },
  {
    name: "commit",
    member: "build.commit",
    label: "Commit",
    maxLength: maxLengthOf(buildText.commit),
    required: false,
    hint: "HEAD when empty.",
  },
  {
    name: "message",
    member: "build.message",
    label: "Build message",
    maxLength: maxLengthOf(buildText.message),
    required: false,
    hint: "Triggered build when empty. Nothing in a payload changes branch, commit or message.",
  },
] as const;

export const fieldNames: FieldNames = {
  ...Object.fromEntries(textFields.map(({ member, name }) => [member, name])),
  "build.environment": "environment",
  filter: "filter",
  "filter.expression": "filter",
  "verification.secret": "secret",
  ...Object.fromEntries(
    Object.entries(signatureFields).map(([member, name]) => [`verification.${member}`, name]),
  ),
};

export const emptyDraft: TriggerDraft = {
  type: "",
  label: "",
  ...buildDefaults,
  enabled: true,
  environment: "",
  replacesEnvironment: false,
  isVerified: false,
  filter: "",
  secret: "",
  isGenerated: false,
  signature: hmacDefaults,
};

/** The form that edits a saved trigger, without its secrets. */
export function toDraft(trigger: Trigger): TriggerDraft {
  return {
    ...emptyDraft,
    type: trigger.type,
    label: trigger.label,
    branch: trigger.buildBranch ?? buildDefaults.branch,
    commit: trigger.buildCommit ?? buildDefaults.commit,
    message: trigger.buildMessage ?? buildDefaults.message,
    enabled: trigger.enabled,
    isVerified: trigger.secretSealed !== null,
    filter: trigger.filter ?? "",
    signature: trigger.signature ?? hmacDefaults,
  };
}

/** @param type of the saved trigger; absent: the form has it */
export function readDraft(form: URLSearchParams, type = form.get("type") ?? ""): TriggerDraft {
  const field = (name: string) => form.get(name) ?? "";
  return {
    type,
    label: field("label").trim(),
    branch: field("branch").trim(),
    commit: field("commit").trim(),
    message: field("message").trim(),
    enabled: form.has("enabled"),
    environment: field("environment"),
    replacesEnvironment: field("environment_choice") === "replace",
    isVerified: form.has("verify") || type === hmacType,
    filter: field("filter").trim(),
    secret: field("secret"),
    isGenerated: form.has("generated"),
    signature: readSignature(form),
  };
}

/** Deliveries of this type are always verified. The owner of other types cannot choose the signature. */
const hmacType = "hmac";

/** Shows the form again, with a fresh secret: the button Generate. */
export function withGeneratedSecret(draft: TriggerDraft): TriggerDraft {
  return { ...draft, isVerified: true, secret: randomBytes(32).toString("base64url"), isGenerated: true };
}

/** @throws Refusal 422 */
export function toNewTrigger(config: Config, actor: Actor, draft: TriggerDraft): NewTrigger {
  const { environment, problems } = readEnvironment(draft.environment);
  const chosen = draft.type === hmacType ? checkSignature(draft.signature) : undefined;
  const input = {
    ...toSettings(draft),
    type: draft.type,
    environment,
    filter: draft.filter || null,
    secret: draft.isVerified ? draft.secret : null,
    signature: chosen?.signature ?? null,
  };
  const { type, ...withoutType } = input;
  requireNone(
    [
      ...(type === "" ? [{ field: "type", message: "Type must be chosen" }] : []),
      ...checkTexts(draft),
      ...problems,
      ...checkSecret(draft, draft.isVerified),
      ...(chosen?.problems ?? []),
    ],
    () => newTriggerProblems(config, actor, type === "" ? withoutType : input),
  );
  return input;
}

/** @throws Refusal 422 */
export function toChange(config: Config, actor: Actor, draft: TriggerDraft, trigger: Trigger): TriggerChange {
  const { environment, problems } = readEnvironment(draft.replacesEnvironment ? draft.environment : "");
  const chosen = trigger.type === hmacType ? checkSignature(draft.signature) : undefined;
  const needsSecret = draft.isVerified && trigger.secretSealed === null;
  // An organization that lost the feature may keep its filter. Browsers change line breaks.
  const isSameFilter = draft.filter === (trigger.filter ?? "").replaceAll("\r\n", "\n").trim();
  const change = {
    ...toSettings(draft),
    ...(draft.replacesEnvironment ? { environment } : {}),
    ...(isSameFilter ? {} : { filter: draft.filter || null }),
  };
  const known = [...problems, ...checkSecret(draft, needsSecret), ...(chosen?.problems ?? [])];
  requireNone([...checkTexts(draft), ...known], () => triggerChangeProblems(config, actor, trigger, change));
  if (!draft.isVerified) return { ...change, verification: null };
  const secret = draft.secret ? { secret: draft.secret } : {};
  return { ...change, verification: { ...secret, ...(chosen && { signature: chosen.signature }) } };
}

/** Null stands for the default. */
function toSettings({ label, enabled, branch, commit, message }: TriggerDraft) {
  const orNull = (value: string, usual: string) => (value === "" || value === usual ? null : value);
  return {
    label,
    enabled,
    branch: orNull(branch, buildDefaults.branch),
    commit: orNull(commit, buildDefaults.commit),
    message: orNull(message, buildDefaults.message),
  };
}

/** @param domainProblems further ones, for one answer that has all */
function requireNone(problems: Problem[], domainProblems: () => Problem[]): void {
  if (problems.length > 0) throw validationFailed(...problems, ...domainProblems());
}

function checkTexts(draft: TriggerDraft): Problem[] {
  return textFields.flatMap(({ name, member, label, maxLength, required }) =>
    problemsOf(required ? requiredText(label, maxLength) : text(label, maxLength), draft[name], member),
  );
}

/**
 * @param types the choice for a new trigger, or the type of the saved one
 * @param saved names of the variables and, if there is a secret, its end
 */
export function TriggerFields({
  draft,
  problems = [],
  types,
  saved,
  filter,
}: {
  draft: TriggerDraft;
  problems?: FormProblems | undefined;
  types: TriggerType[];
  saved?: { variables: string[]; secretEnd: string | undefined };
  /** `kept`: the organization lost the feature, but the trigger has a filter. */
  filter: "available" | "kept" | "unavailable";
}) {
  const signingTypes = types.filter(({ signatures }) => signatures.length > 0);
  const environment = { value: draft.environment, problems };
  return (
    <>
      {problems.length > 0 && (
        <FormError problems={problems}>
          {asSentence(problems)}
          {draft.secret && !draft.isGenerated && " The secret was not kept: please type it again."}
        </FormError>
      )}
      <DefaultButton />
      {!saved && <TypeField types={types} value={draft.type} />}
      {textFields.map(({ member, ...field }) => (
        <Field key={member} {...field} value={draft[field.name]} problems={problems} />
      ))}
      {saved ? (
        <EnvironmentChoice names={saved.variables} isReplaced={draft.replacesEnvironment} {...environment} />
      ) : (
        <EnvironmentField {...environment} />
      )}
      {signingTypes.length > 0 && (
        <VerificationField
          types={signingTypes}
          draft={draft}
          secretEnd={saved?.secretEnd}
          problems={problems}
        />
      )}
      {filter !== "unavailable" && (
        <FilterField value={draft.filter} isKept={filter === "kept"} problems={problems} />
      )}
      <Check
        label="Enabled"
        name="enabled"
        checked={draft.enabled}
        hint="A disabled trigger refuses deliveries."
      />
    </>
  );
}
