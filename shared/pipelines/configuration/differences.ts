import { isMap } from "../../collections.ts";
import type { Cipher } from "../../crypto/cipher.ts";
import { differenceOf, differenceOfNames } from "../../members/difference.ts";
import type { AuditChange } from "../../vocabulary.ts";
import { environmentOfPipeline } from "../environment.ts";
import type { Pipeline } from "../store.ts";
import { writeSteps } from "../written-steps.ts";
import { writeConfiguration } from "./write.ts";

/** Longer steps are not compared: it would take too long in a transaction. */
const maxComparedBytes = 256 * 1024;

/** Adds what changed to the changes of long members, as far as it is no secret. */
export function withDifferences(
  cipher: Cipher,
  changes: AuditChange[],
  { before, after }: { before: Pipeline; after: Pipeline },
): AuditChange[] {
  return changes.map((change) => {
    const difference = differenceIn(cipher, change.field, before, after);
    return difference === undefined ? change : { ...change, difference };
  });
}

function differenceIn(cipher: Cipher, field: string, before: Pipeline, after: Pipeline): string | undefined {
  const both = [before, after] as const;
  switch (field) {
    case "steps": {
      if (both.some(({ steps }) => JSON.stringify(steps).length > maxComparedBytes)) return undefined;
      const hide = openHiding();
      const [old, fresh] = both.map(({ steps }) => writeConfiguration(hide(writeSteps(steps))).trimEnd());
      return differenceOf(old ?? "", fresh ?? "");
    }
    case "document":
      return differenceOfNames(before.document?.env ?? {}, after.document?.env ?? {});
    case "environment": {
      const [old, fresh] = both.map((each) => environmentOfPipeline(cipher, each));
      return differenceOfNames(old ?? {}, fresh ?? {});
    }
    case "provider_settings": {
      const [old, fresh] = both.map(({ providerSettings }) => linesOf(providerSettings));
      return differenceOf(old ?? "", fresh ?? "");
    }
    default:
      return undefined;
  }
}

function linesOf(settings: object | null): string {
  return Object.entries(settings ?? {})
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join("\n");
}

/** Replaces the values of variables by numbers, the same for the same value: a change shows, and no value does. */
function openHiding() {
  const numbers = new Map<string, number>();
  const numberOf = (value: unknown) => {
    const text = JSON.stringify(value) ?? "";
    if (!numbers.has(text)) numbers.set(text, numbers.size + 1);
    return `(value ${numbers.get(text)})`;
  };
  const hideVariables = (variables: unknown): unknown => {
    if (isMap(variables))
      return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, numberOf(value)]));
    if (!Array.isArray(variables)) return numberOf(variables);
    return variables.map((each) => {
      const [name, value] = typeof each === "string" ? each.split(/=(.*)/s, 2) : [undefined];
      if (name === undefined) return numberOf(each);
      return value === undefined ? name : `${name}=${numberOf(value)}`;
    });
  };
  const hide = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hide);
    if (!isMap(value)) return value;
    const members = Object.entries(value);
    return Object.fromEntries(
      members.map(([name, each]) => [name, isOfVariables(name) ? hideVariables(each) : hide(each)]),
    );
  };
  return hide;
}

/** Of steps, and of plugins that start containers. */
function isOfVariables(name: string): boolean {
  return ["env", "environment", "build_args", "build-args"].includes(name);
}
