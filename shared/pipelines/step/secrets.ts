import { z } from "zod";
import { listOf, record } from "../../collections.ts";
import { excerpt } from "../../refusal.ts";
import { reservedVariable, type StepSecret, secretKeyPattern } from "../../vocabulary.ts";
import { type Member, member } from "./declaration.ts";
import { nullable, oneOf } from "./forms.ts";

// The secrets that a step asks for: keys, objects, or a map from variables to keys.

/** Agents fetch one after the other. */
const maxSecrets = 100;
const maxLength = 255;
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The server and agents set these. Two kinds of tokens of other services are exceptions. */
const ownVariable = /^(?:BUILDKITE|BK)/i;
const allowedVariable = /_(?:API|ANALYTICS)_TOKEN$/i;

/** @param member begins the messages */
export function givenSecrets(member: string) {
  const error = `${member} must be a list of keys, or a map from variables to keys`;
  const key = z.string({ error });
  const object = z
    .object({ key, environment_variable: z.string({ error }).nullish() }, { error })
    .transform(({ key, environment_variable }) => ({
      key,
      environment_variable: environment_variable ?? key,
    }));
  const text = key.transform((key) => ({ key, environment_variable: key }));
  const bound = { max: maxSecrets, tooMany: `${member} can be ${maxSecrets} at most` };
  const map = record(member, key, { error, ...bound }).transform((given) =>
    Object.entries(given).map(([environment_variable, key]) => ({ key, environment_variable })),
  );
  return nullable(
    oneOf({ list: listOf(oneOf({ text, object }, error), { error, ...bound }), object: map }, error)
      .superRefine((secrets, context) => {
        const problem = secrets.map(problemOf).find((each) => each !== undefined);
        if (problem) context.addIssue(`${member} ${problem}`);
      })
      .transform((secrets) => mergeSecrets(secrets, [])),
  );
}

function problemOf({ key, environment_variable: variable }: StepSecret): string | undefined {
  if (!secretKeyPattern.test(key) || key.length > maxLength)
    return `cannot have the key ${JSON.stringify(excerpt(key))}`;
  const isOwn =
    (ownVariable.test(variable) && !allowedVariable.test(variable)) || reservedVariable.test(variable);
  return isOwn || !variablePattern.test(variable) || variable.length > maxLength
    ? `cannot set the variable ${JSON.stringify(excerpt(variable))}`
    : undefined;
}

/** The secrets of a step, and those of its document for other variables. Each variable is there once. */
export function mergeSecrets(ofDocument: StepSecret[], ofStep: StepSecret[]): StepSecret[] {
  const own = new Set(ofStep.map(({ environment_variable }) => environment_variable));
  const others = ofDocument.filter(({ environment_variable }) => !own.has(environment_variable));
  const byVariable = new Map([...others, ...ofStep].map((each) => [each.environment_variable, each]));
  return [...byVariable.values()];
}

export const secrets: Member<StepSecret[]> = member({
  given: {
    secrets: givenSecrets("Step secrets").meta({
      description:
        "Secrets of the cluster that agents give the command: keys, {key, environment_variable}, or a map from variables to keys",
    }) as z.ZodType<StepSecret[] | undefined>,
  },
  parse: ({ secrets }) => (secrets && secrets.length > 0 ? secrets : undefined),
  stored: z.array(z.object({ key: z.string(), environment_variable: z.string() })),
  words: (all) =>
    `with the ${all.length === 1 ? "secret" : "secrets"} ${all.map(({ key }) => key).join(", ")}`,
});
