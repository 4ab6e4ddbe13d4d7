import type { Actor } from "../accounts/audit.ts";
import type { Organization } from "../accounts/organization-store.ts";
import type { BuildRequest } from "../builds/create.ts";
import { openEnvironment, sealEnvironment } from "../builds/environment.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { type Problem, validationFailed } from "../refusal.ts";
import type { Config } from "../runtime/config.ts";
import { compileFilter } from "./filter/compile.ts";
import type { TriggerChange } from "./input.ts";
import type { Trigger } from "./store.ts";
import { buildDefaults, findTriggerType, triggerTypes } from "./types.ts";

/**
 * Checks the type, and the members that it and the organization allow.
 * @throws Refusal 422
 */
export function requireValidSettings(
  config: Config,
  { organization }: Actor,
  settings: { type: string; filter?: string | null; secret?: string | null } & Pick<
    TriggerChange,
    "verification"
  >,
  { isNew }: { isNew: boolean },
): void {
  const type = findTriggerType(config.issueTracker, settings.type);
  const problems = [
    // A trigger's issue tracker may no longer be configured.
    !type && isNew && typeProblem(config.issueTracker),
    (settings.secret || settings.verification) && type && !type.signature && noVerification,
    settings.filter && filterProblem(organization, settings.filter),
  ].filter((problem) => !!problem);
  if (problems.length > 0) throw validationFailed(...problems);
}

const noVerification: Problem = {
  field: "verification",
  message: "Verification is not available for webhook triggers",
};

function typeProblem(issueTracker: string): Problem {
  const names = triggerTypes(issueTracker).map(({ name }) => name);
  return { field: "type", message: `Type must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}` };
}

function filterProblem({ features }: Organization, expression: string): Problem | undefined {
  if (!features.includes("webhook_filtering"))
    return { field: "filter", message: "Filters are not available to this organization" };
  const compiled = compileFilter(expression);
  if (!("problem" in compiled)) return undefined;
  return { field: "filter.expression", message: `Filter expression: ${compiled.problem}` };
}

/** Blank text becomes null. */
export function columnsOf(cipher: Cipher, change: TriggerChange): Partial<Trigger> {
  const { label, enabled, message, commit, branch, environment, filter, verification } = change;
  const seal = (value: string | undefined) => (value === undefined ? undefined : cipher.seal(value));
  const columns: { [K in keyof Trigger]?: Trigger[K] | undefined } = {
    label,
    enabled,
    buildMessage: orDefault(message),
    buildCommit: orDefault(commit),
    buildBranch: orDefault(branch),
    filter,
    environmentSealed: environment && sealEnvironment(cipher, environment),
    secretSealed: verification === null ? null : seal(verification?.secret),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

function orDefault(text: string | null | undefined): string | null | undefined {
  return text?.trim() === "" ? null : text;
}

export function environmentOf(cipher: Cipher, { environmentSealed }: Trigger): Record<string, string> {
  return openEnvironment(cipher, environmentSealed);
}

/** No payload changes it. Copies the sealed variables: sealing them for each build costs more than storing it. */
export function planBuild(trigger: Trigger): Omit<BuildRequest, "deliveryId"> {
  return {
    pipelineId: trigger.pipelineId,
    source: "webhook",
    message: trigger.buildMessage ?? buildDefaults.message,
    commit: trigger.buildCommit ?? buildDefaults.commit,
    branch: trigger.buildBranch ?? buildDefaults.branch,
    environmentSealed: trigger.environmentSealed,
  };
}

/** Distinguishes secrets. Empty for at most two characters. */
export function lastTwoOf(secret: string): string {
  return secret.length > 2 ? secret.slice(-2) : "";
}
