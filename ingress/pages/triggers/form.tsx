import { randomBytes } from "node:crypto";
import type { Actor } from "../../../shared/accounts/audit.ts";
import { isRequired } from "../../../shared/members/member.ts";
import { type Problem, validationFailed } from "../../../shared/refusal.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { buildOf } from "../../../shared/triggers/columns.ts";
import { type NewTrigger, type TriggerChange, triggerMembers } from "../../../shared/triggers/members.ts";
import { newTriggerProblems, triggerChangeProblems } from "../../../shared/triggers/problems.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildDefaults, hmacDefaults, type TriggerType } from "../../../shared/triggers/types.ts";
import { maxLengthOf, problemsOf, requiredText, text } from "../../../shared/validation.ts";
import { draftOf, fieldNamesOf, listFields, readDraft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import {
  EnvironmentChoice,
  EnvironmentField,
  readEnvironment,
  replacesEnvironment,
} from "../ui/environment-field.tsx";
import { Check, DefaultButton, FoldedFields, FormError } from "../ui/form.tsx";
import { asSentence, type FieldNames, type FormProblems } from "../ui/problems.ts";
import { FilterField, NoFilterField } from "./filter-field.tsx";
import {
  checkSecret,
  checkSignature,
  type TriggerTexts,
  TypeField,
  type VerificationDraft,
  VerificationField,
} from "./verification.tsx";

/** The form of a trigger, as it starts or was sent. */
export interface TriggerDraft extends VerificationDraft {
  enabled: boolean;
  /** Editing only: true if the variables in `texts`, lines of NAME=value, replace the saved ones. */
  replacesEnvironment: boolean;
}

const { label, buildBranch, buildCommit, buildMessage } = triggerMembers;
const buildMembers = { buildBranch, buildCommit, buildMessage };
const plainMembers = { label, ...buildMembers };
const { environment, filter } = triggerMembers;
/** The form of a new trigger folds their fields. */
const foldedFields = listFields({ ...buildMembers, environment, filter });

export const fieldNames: FieldNames = { ...fieldNamesOf(triggerMembers), filter: "filter" };

export const emptyDraft: TriggerDraft = {
  texts: textsOf({}),
  enabled: true,
  replacesEnvironment: false,
  isVerified: true,
  isGenerated: false,
};

/** The form that edits a saved trigger, without its secrets. */
export function toDraft(trigger: Trigger): TriggerDraft {
  const { enabled, secretSealed } = trigger;
  return { ...emptyDraft, texts: textsOf(trigger), enabled, isVerified: secretSealed !== null };
}

function textsOf(trigger: Partial<Trigger>): TriggerTexts {
  const values = { ...trigger, ...buildOf(trigger), ...(trigger.signature ?? hmacDefaults) };
  return draftOf(triggerMembers, values) as TriggerTexts;
}

/** Says if something was filled in that the form of a new trigger folds. */
function hasOthers({ texts, enabled }: TriggerDraft): boolean {
  const textOf = (draft: TriggerTexts, column: string) => draft[column as keyof TriggerTexts];
  return (
    !enabled || foldedFields.some(({ column }) => textOf(texts, column) !== textOf(emptyDraft.texts, column))
  );
}

/** @param saved the type of the saved trigger; absent: the form has it */
export function readTrigger(form: URLSearchParams, saved?: string): TriggerDraft {
  const sent = readDraft(triggerMembers, form);
  const texts = { ...emptyDraft.texts, ...sent, ...(saved !== undefined && { type: saved }) };
  return {
    texts,
    enabled: form.has("enabled"),
    replacesEnvironment: replacesEnvironment(form),
    isVerified: texts.type === hmacType || (form.has("verify") && !isUnasked(texts)),
    isGenerated: form.has("generated"),
  };
}

/** The type cannot be verified, and hides the box that is ticked at first. */
function isUnasked({ type, secret }: TriggerTexts): boolean {
  return type === "webhook" && secret === "";
}

/** Deliveries of this type are always verified. The owner of other types cannot choose the signature. */
const hmacType = "hmac";

/** Shows the form again, with a fresh secret: the button Generate. */
export function withGeneratedSecret(draft: TriggerDraft): TriggerDraft {
  const texts = { ...draft.texts, secret: randomBytes(32).toString("base64url") };
  return { ...draft, texts, isVerified: true, isGenerated: true };
}

/** @throws Refusal 422 */
export function toNewTrigger(config: Config, actor: Actor, draft: TriggerDraft): NewTrigger {
  const { type, filter, secret } = draft.texts;
  const { environment, problems } = readEnvironment(draft.texts.environment);
  const chosen = type === hmacType ? checkSignature(draft.texts) : undefined;
  const input = {
    ...toSettings(draft),
    environment,
    filter: filter || null,
    secret: draft.isVerified ? secret : null,
    ...chosen?.signature,
  };
  requireNone(
    [
      ...(type === "" ? [{ field: "type", message: "Type must be chosen" }] : []),
      ...checkTexts(draft),
      ...problems,
      ...checkSecret(draft, draft.isVerified),
      ...(chosen?.problems ?? []),
    ],
    () => newTriggerProblems(config, actor, type === "" ? input : { ...input, type }),
  );
  return { ...input, type };
}

/** @throws Refusal 422 */
export function toChange(config: Config, actor: Actor, draft: TriggerDraft, trigger: Trigger): TriggerChange {
  const { filter, secret } = draft.texts;
  const { environment, problems } = readEnvironment(draft.replacesEnvironment ? draft.texts.environment : "");
  const chosen = trigger.type === hmacType ? checkSignature(draft.texts) : undefined;
  const needsSecret = draft.isVerified && trigger.secretSealed === null;
  // An organization that lost the feature may keep its filter. Browsers change line breaks.
  const isSameFilter = filter === (trigger.filter ?? "").replaceAll("\r\n", "\n").trim();
  const change = {
    ...toSettings(draft),
    ...(draft.replacesEnvironment ? { environment } : {}),
    ...(isSameFilter ? {} : { filter: filter || null }),
  };
  const known = [...problems, ...checkSecret(draft, needsSecret), ...(chosen?.problems ?? [])];
  requireNone([...checkTexts(draft), ...known], () => triggerChangeProblems(config, actor, trigger, change));
  if (!draft.isVerified) return { ...change, strategy: null, secret: null };
  return { ...change, strategy: "hmac", ...(secret && { secret }), ...chosen?.signature };
}

/** Null stands for the default. */
function toSettings({ texts, enabled }: TriggerDraft) {
  const orNull = (value: string, usual: string) => (value === "" || value === usual ? null : value);
  return {
    label: texts.label,
    enabled,
    buildBranch: orNull(texts.buildBranch, buildDefaults.branch),
    buildCommit: orNull(texts.buildCommit, buildDefaults.commit),
    buildMessage: orNull(texts.buildMessage, buildDefaults.message),
  };
}

/** @param domainProblems further ones, for one answer that has all */
function requireNone(problems: Problem[], domainProblems: () => Problem[]): void {
  if (problems.length > 0) throw validationFailed(...problems, ...domainProblems());
}

function checkTexts({ texts }: TriggerDraft): Problem[] {
  return listFields(plainMembers).flatMap((member) => {
    const { column, name, field, create } = member;
    const named = isRequired(member) ? requiredText : text; // by the labels of the form
    return create
      ? problemsOf(named(field.label, maxLengthOf(create)), texts[column as keyof TriggerTexts], name)
      : [];
  });
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
  settings,
}: {
  draft: TriggerDraft;
  problems?: FormProblems | undefined;
  types: TriggerType[];
  saved?: { variables: string[]; secretEnd: string | undefined };
  /** `kept`: the organization lost the feature, but the trigger has a filter. */
  filter: "available" | "kept" | "unavailable";
  /** The address of the organization's settings, for those who may change them. */
  settings: string | undefined;
}) {
  const signingTypes = types.filter(({ signatures }) => signatures.length > 0);
  const { texts } = draft;
  const environment = { api: triggerMembers.environment.name, value: texts.environment, problems };
  return (
    <>
      {problems.length > 0 && (
        <FormError problems={problems}>
          {asSentence(problems)}
          {texts.secret && !draft.isGenerated && " The secret was not kept: please type it again."}
        </FormError>
      )}
      <DefaultButton />
      {!saved && <TypeField types={types} value={texts.type} />}
      {signingTypes.length > 0 && (
        <VerificationField
          types={signingTypes}
          draft={draft}
          secretEnd={saved?.secretEnd}
          problems={problems}
        />
      )}
      <MemberFields members={{ label }} when="create" draft={texts} problems={problems} />
      <FoldedFields
        id="others"
        names={foldedFields.map(({ field }) => field.name)}
        problems={problems}
        isOpen={saved !== undefined || hasOthers(draft)}
      >
        <MemberFields members={buildMembers} when="create" draft={texts} problems={problems} />
        {saved ? (
          <EnvironmentChoice
            names={saved.variables}
            isReplaced={draft.replacesEnvironment}
            {...environment}
          />
        ) : (
          <EnvironmentField {...environment} />
        )}
        {filter === "unavailable" ? (
          <NoFilterField settings={settings} />
        ) : (
          <FilterField value={texts.filter} isKept={filter === "kept"} problems={problems} />
        )}
        <Check
          label="Enabled"
          name="enabled"
          checked={draft.enabled}
          hint="A disabled trigger refuses deliveries."
        />
      </FoldedFields>
    </>
  );
}
