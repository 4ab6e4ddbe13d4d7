import type { Problem } from "../../../shared/refusal.ts";
import {
  environment,
  filterExpression,
  type NewTrigger,
  signingSecret,
  type TriggerChange,
} from "../../../shared/triggers/input.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildDefaults } from "../../../shared/triggers/types.ts";
import { problemsOf, requiredText, text } from "../../../shared/validation.ts";
import { asSentence } from "../ui/problems.ts";
import { readEnvironmentLines } from "./environment-lines.ts";

/** What the form of a trigger holds, as it was sent or as it starts. */
export interface TriggerDraft {
  type: string;
  label: string;
  branch: string;
  commit: string;
  message: string;
  enabled: boolean;
  /** Lines of NAME=value. */
  environment: string;
  /** Of a trigger that there is: whether these lines replace its variables. */
  replacesEnvironment: boolean;
  isVerified: boolean;
  filter: string;
  /** Never shown again. */
  secret: string;
}

/** A form that nothing was typed into yet. */
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
};

/** The form of a trigger that there is: its secrets are not in it. */
export function draftOf(trigger: Trigger): TriggerDraft {
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
  };
}

export function readDraft(form: URLSearchParams): TriggerDraft {
  const field = (name: string) => form.get(name) ?? "";
  return {
    type: field("type"),
    label: field("label").trim(),
    branch: field("branch").trim(),
    commit: field("commit").trim(),
    message: field("message").trim(),
    enabled: form.has("enabled"),
    environment: field("environment"),
    replacesEnvironment: field("environment_choice") === "replace",
    isVerified: form.has("verify"),
    filter: field("filter").trim(),
    secret: field("secret"),
  };
}

/** What a new trigger is made of, or why it cannot be. */
export function toNewTrigger(draft: TriggerDraft): { input: NewTrigger } | { problem: string } {
  const lines = readEnvironmentLines(draft.environment);
  const problems = [
    ...(draft.type === "" ? ["Type must be chosen"] : []),
    ...textProblems(draft),
    ...environmentProblems(lines),
    ...secretProblems(draft, draft.isVerified),
  ];
  if (problems.length > 0) return { problem: asSentence(problems) };
  return {
    input: {
      ...settingsOf(draft),
      type: draft.type,
      environment: lines.environment,
      filter: draft.filter || null,
      secret: draft.isVerified ? draft.secret : null,
    },
  };
}

/** How a form changes a trigger, or why it cannot: what it leaves alone is not in the change. */
export function toChange(
  draft: TriggerDraft,
  present: Trigger,
): { change: TriggerChange } | { problem: string } {
  const lines = readEnvironmentLines(draft.replacesEnvironment ? draft.environment : "");
  const mustHaveSecret = draft.isVerified && present.secretSealed === null;
  const problems = [
    ...textProblems(draft),
    ...environmentProblems(lines),
    ...secretProblems(draft, mustHaveSecret),
  ];
  if (problems.length > 0) return { problem: asSentence(problems) };
  // An organization that may no longer have filters keeps those it has, whatever their line breaks are.
  const isSameFilter = draft.filter === (present.filter ?? "").replaceAll("\r\n", "\n").trim();
  return {
    change: {
      ...settingsOf(draft),
      ...(draft.replacesEnvironment ? { environment: lines.environment } : {}),
      ...(isSameFilter ? {} : { filter: draft.filter || null }),
      verification: draft.isVerified ? (draft.secret ? { secret: draft.secret } : {}) : null,
    },
  };
}

/** The default of the specification is not stored. */
function settingsOf({ label, enabled, branch, commit, message }: TriggerDraft) {
  const unlessDefault = (value: string, usual: string) => (value === "" || value === usual ? null : value);
  return {
    label,
    enabled,
    branch: unlessDefault(branch, buildDefaults.branch),
    commit: unlessDefault(commit, buildDefaults.commit),
    message: unlessDefault(message, buildDefaults.message),
  };
}

function textProblems({ label, branch, commit, message, filter }: TriggerDraft): Problem[] {
  return [
    ...problemsOf(requiredText("Description", 255), label, "label"),
    ...problemsOf(text("Branch", 1000), branch, "branch"),
    ...problemsOf(text("Commit", 1000), commit, "commit"),
    ...problemsOf(text("Build message", 1000), message, "message"),
    ...(filter ? problemsOf(filterExpression, filter, "filter") : []),
  ];
}

function environmentProblems(lines: ReturnType<typeof readEnvironmentLines>): (Problem | string)[] {
  return lines.problems.length > 0
    ? lines.problems
    : problemsOf(environment, lines.environment, "environment");
}

/** A secret that would verify nothing is told of: whoever typed it believes that deliveries are verified. */
function secretProblems({ isVerified, secret }: TriggerDraft, mustHaveSecret: boolean): (Problem | string)[] {
  if (!isVerified) return secret ? ["Secret is of use only with Verify deliveries"] : [];
  return secret || mustHaveSecret ? problemsOf(signingSecret, secret, "secret") : [];
}
