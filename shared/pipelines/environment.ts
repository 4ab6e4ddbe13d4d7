import { z } from "zod";
import { record } from "../collections.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { type SealedPlace, sealedPlaces } from "../crypto/sealed-places.ts";
import { excerpt } from "../refusal.ts";
import { isStorable } from "../validation.ts";
import { reservedVariable } from "../vocabulary.ts";

export type Environment = Record<string, string>;

const maxVariables = 100;
const maxNameLength = 255;
/** The limit of all values together, without their names. */
const maxEnvironmentBytes = 64 * 1024;

/**
 * Checks variables that a caller gives.
 * @param member begins the messages
 */
export function environmentSchema(member: string) {
  return record(member, z.unknown(), {
    error: `${member} must be an object of names and text`,
    max: maxVariables,
    tooMany: `${member} has more than ${maxVariables} variables`,
  })
    .superRefine((value, context) => {
      for (const message of variableProblems(member, value)) context.addIssue(message);
    })
    .transform((value) => value as Environment)
    .meta({ additionalProperties: { type: "string" } });
}

function variableProblems(member: string, variables: Record<string, unknown>): string[] {
  const names = Object.keys(variables);
  const values = Object.values(variables).filter((value) => typeof value === "string");
  const bytes = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  const problems = [
    names.some((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) &&
      `${member} names must be letters, digits and _, not starting with a digit`,
    names.some((name) => name.length > maxNameLength) &&
      `${member} names are too long (maximum is ${maxNameLength} characters)`,
    names.some((name) => reservedVariable.test(name)) &&
      `${member} names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself`,
    bytes > maxEnvironmentBytes && `${member} values are larger than 64 KB in all`,
  ];
  return [...problems.filter((problem) => problem !== false), ...valueProblems(member, variables)];
}

function valueProblems(member: string, variables: Record<string, unknown>): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const words = `${member} variable ${excerpt(name)} must be text`;
    if (typeof value !== "string") return `${words}, not ${typeInWords(value)}`;
    return isStorable(value) ? [] : `${words} without NUL`;
  });
}

function typeInWords(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return (
    { boolean: "true or false", number: "a number", object: "an object" }[typeof value as string] ?? "this"
  );
}

/** Returns null for no variables. */
export function sealEnvironment(cipher: Cipher, environment: Environment, place: SealedPlace): string | null {
  return Object.keys(environment).length > 0 ? cipher.seal(JSON.stringify(environment), place) : null;
}

/** @throws Error when no key opens it */
export function openEnvironment(cipher: Cipher, sealed: string | null, place: SealedPlace): Environment {
  return sealed === null ? {} : JSON.parse(cipher.open(sealed, place));
}

export function environmentOfPipeline(
  cipher: Cipher,
  { id, environmentSealed }: { id: string; environmentSealed: string | null },
): Environment {
  return openEnvironmentIfPossible(cipher, environmentSealed, sealedPlaces.variablesOfPipeline(id));
}

/** No variables if no key opens them: rows outlive keys, and must still be shown. */
export function openEnvironmentIfPossible(
  cipher: Cipher,
  sealed: string | null,
  place: SealedPlace,
): Environment {
  try {
    return openEnvironment(cipher, sealed, place);
  } catch {
    return {};
  }
}
