import type { Actor } from "../accounts/audit.ts";
import type { BuildRequest } from "../builds/create.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { validationFailed } from "../refusal.ts";
import type { Config } from "../runtime/config.ts";
import { compileFilter } from "./filter/compile.ts";
import type { TriggerChange } from "./input.ts";
import type { Trigger } from "./store.ts";
import { buildDefaults, findTriggerType, triggerTypes } from "./types.ts";

/**
 * What fields alone cannot tell: whether the type exists and can do what is asked of it, and whether a filter is
 * allowed and means something.
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
  const problems: string[] = [];
  const type = findTriggerType(config.issueTracker, settings.type);
  // One that is there may be of an issue tracker that is configured no longer.
  if (!type && isNew) {
    const names = triggerTypes(config.issueTracker).map(({ name }) => name);
    problems.push(`Type must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`);
  }
  if ((settings.secret || settings.verification) && type && !type.signature)
    problems.push("Verification is not available for webhook triggers");
  if (settings.filter) {
    if (!organization.features.includes("webhook_filtering"))
      problems.push("Filters are not available to this organization");
    else {
      const compiled = compileFilter(settings.filter);
      if ("problem" in compiled) problems.push(`Filter expression: ${compiled.problem}`);
    }
  }
  if (problems.length > 0) throw validationFailed(...problems);
}

/** The columns that a change sets: what it leaves out is not among them. Blank text is the default. */
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

function sealEnvironment(cipher: Cipher, environment: Record<string, string>): string | null {
  return Object.keys(environment).length > 0 ? cipher.seal(JSON.stringify(environment)) : null;
}

/** The variables that a trigger sets for its builds. */
export function environmentOf(cipher: Cipher, { environmentSealed }: Trigger): Record<string, string> {
  return environmentSealed === null ? {} : JSON.parse(cipher.open(environmentSealed));
}

/** The build that every delivery of a trigger asks for. A payload changes nothing of it. */
export function planBuild(trigger: Trigger, cipher: Cipher): Omit<BuildRequest, "deliveryId"> {
  return {
    pipelineId: trigger.pipelineId,
    source: "webhook",
    message: trigger.buildMessage ?? buildDefaults.message,
    commit: trigger.buildCommit ?? buildDefaults.commit,
    branch: trigger.buildBranch ?? buildDefaults.branch,
    environment: environmentOf(cipher, trigger),
  };
}

/** The last two characters of a secret, to tell it from others; empty for a secret of at most two. */
export function lastTwoOf(secret: string): string {
  return secret.length > 2 ? secret.slice(-2) : "";
}
