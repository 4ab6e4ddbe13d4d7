import type { Actor } from "../accounts/audit.ts";
import type { Organization } from "../accounts/organization-store.ts";
import type { BuildRequest } from "../builds/making/builds.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import { openEnvironment, sealEnvironment } from "../pipelines/environment.ts";
import type { Problem } from "../refusal.ts";
import type { Config } from "../settings/config.ts";
import { compileFilter } from "./filter/compile.ts";
import type { NewTrigger, SignatureChange, TriggerChange } from "./input.ts";
import { isShortStandardSecret } from "./signatures.ts";
import type { Trigger } from "./store.ts";
import {
  buildDefaults,
  findTypeByName,
  hmacDefaults,
  type TriggerType,
  triggerTypes,
  typeOfTrigger,
} from "./types.ts";

/** The reasons why the type or the organization does not allow the members of a new trigger. */
export function newTriggerProblems(
  config: Config,
  { organization }: Actor,
  {
    type: name,
    filter,
    secret,
    signature,
  }: Partial<Pick<NewTrigger, "type" | "filter" | "secret" | "signature">>,
): Problem[] {
  const type = name === undefined ? undefined : findTypeByName(config.issueTracker, name);
  return [
    name !== undefined && !type && typeProblem(config.issueTracker),
    secret && type?.signatures.length === 0 && noVerification,
    secret === null && type?.isConfigurable && alwaysVerified,
    type && secretProblem(type, secret),
    ...(type ? signatureProblems(type, signature) : []),
    filter && filterProblem(organization, filter),
  ].filter((problem) => !!problem);
}

/** An organization that lost the feature keeps its filters, but cannot change them. */
export function triggerChangeProblems(
  config: Config,
  { organization }: Actor,
  present: Trigger,
  { type: name, filter, verification }: TriggerChange,
): Problem[] {
  const type = typeOfTrigger(config.issueTracker, present);
  const isSigning = type.signatures.length > 0;
  const needsSecret = verification && verification.secret === undefined && present.secretSealed === null;
  return [
    name !== undefined && name !== type.name && typeIsFixed,
    verification && !isSigning && noVerification,
    needsSecret && isSigning && noSecret,
    verification === null && type.isConfigurable && alwaysVerified,
    secretProblem(type, verification?.secret),
    ...signatureProblems(type, verification?.signature),
    filter && filter !== present.filter && filterProblem(organization, filter),
  ].filter((problem) => !!problem);
}

const typeIsFixed: Problem = { field: "type", message: "Type cannot be changed" };
const noSecret: Problem = { field: "verification.secret", message: "Secret can't be blank" };
const noVerification: Problem = {
  field: "verification",
  message: "Verification is not available for webhook triggers",
};

const alwaysVerified: Problem = {
  field: "verification",
  message:
    "Verification can't be left out of hmac triggers. Choose the type webhook to take what is not signed",
};

function secretProblem({ signatures }: TriggerType, secret: string | null | undefined): Problem | undefined {
  const isShort =
    signatures.some(({ scheme }) => scheme === "standard") && isShortStandardSecret(secret ?? "");
  if (!isShort) return undefined;
  const message = "Secret is too short: after whsec_ it must be the Base64 of 16 bytes or more";
  return { field: "verification.secret", message };
}

function signatureProblems(type: TriggerType, signature: SignatureChange | null | undefined): Problem[] {
  if (type.isConfigurable || type.signatures.length === 0) return [];
  return Object.keys(signature ?? {}).map((name) => ({
    field: `verification.${name}`,
    message: `Verification ${name} is for hmac triggers only`,
  }));
}

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

/**
 * Blank text becomes null.
 * @param present the trigger that changes; absent: a new one
 */
export function columnsOf(cipher: Cipher, change: TriggerChange, present?: Trigger): Partial<Trigger> {
  const { label, enabled, message, commit, branch, environment, filter, verification } = change;
  const { secretsOfTriggers, variablesOfBuilds } = sealedPlaces;
  const seal = (value: string | undefined) =>
    value === undefined ? undefined : cipher.seal(value, secretsOfTriggers);
  const columns: { [K in keyof Trigger]?: Trigger[K] | undefined } = {
    label,
    enabled,
    buildMessage: orDefault(message),
    buildCommit: orDefault(commit),
    buildBranch: orDefault(branch),
    filter,
    environmentSealed: environment && sealEnvironment(cipher, environment, variablesOfBuilds),
    secretSealed: verification === null ? null : seal(verification?.secret),
    signature: verification?.signature && {
      ...hmacDefaults,
      ...present?.signature,
      ...verification.signature,
    },
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

function orDefault(text: string | null | undefined): string | null | undefined {
  return text?.trim() === "" ? null : text;
}

export function environmentOf(cipher: Cipher, { environmentSealed }: Trigger): Record<string, string> {
  return openEnvironment(cipher, environmentSealed, sealedPlaces.variablesOfBuilds);
}

/** Undefined without one. @throws Error when no key opens it */
export function secretOf(
  cipher: Cipher,
  { secretSealed }: Pick<Trigger, "secretSealed">,
): string | undefined {
  return secretSealed === null ? undefined : cipher.open(secretSealed, sealedPlaces.secretsOfTriggers);
}

/**
 * Plans the builds of a trigger, which no payload changes. Copies the sealed variables: sealing them for each build
 * costs more than storing it.
 */
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
