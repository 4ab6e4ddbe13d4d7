import type { Actor } from "../accounts/audit.ts";
import type { Organization } from "../accounts/organization-store.ts";
import type { Problem } from "../refusal.ts";
import type { Config } from "../settings/config.ts";
import { signatureOf } from "./columns.ts";
import { compileFilter } from "./filter/compile.ts";
import type { TriggerChange } from "./members.ts";
import { isShortStandardSecret } from "./signatures.ts";
import type { Trigger } from "./store.ts";
import { findTypeByName, type TriggerType, triggerTypes, typeOfTrigger } from "./types.ts";

/** The reasons why the type or the organization does not allow the members of a new trigger. */
export function newTriggerProblems(config: Config, { organization }: Actor, input: TriggerChange): Problem[] {
  const { type: name, filter, secret = null } = input;
  const type = typeof name === "string" ? findTypeByName(config.issueTracker, name) : undefined;
  return [
    typeof name === "string" && !type && typeProblem(config.issueTracker),
    secret && type?.signatures.length === 0 && noVerification,
    secret === null && type?.isConfigurable && alwaysVerified,
    type && secretProblem(type, secret),
    ...(type ? signatureProblems(type, input) : []),
    filter && filterProblem(organization, filter),
  ].filter((problem) => !!problem);
}

/** An organization that lost the feature keeps its filters, but cannot change them. */
export function triggerChangeProblems(
  config: Config,
  { organization }: Actor,
  present: Trigger,
  change: TriggerChange,
): Problem[] {
  const { type: name, filter, strategy, secret } = change;
  const type = typeOfTrigger(config.issueTracker, present);
  const isSigning = type.signatures.length > 0;
  const needsSecret = strategy && secret === undefined && present.secretSealed === null;
  return [
    name !== undefined && name !== type.name && typeIsFixed,
    strategy && !isSigning && noVerification,
    needsSecret && isSigning && noSecret,
    strategy === null && type.isConfigurable && alwaysVerified,
    secretProblem(type, secret),
    ...signatureProblems(type, change),
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

function signatureProblems(type: TriggerType, change: TriggerChange): Problem[] {
  if (type.isConfigurable || type.signatures.length === 0) return [];
  return Object.keys(signatureOf(change)).map((name) => ({
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
