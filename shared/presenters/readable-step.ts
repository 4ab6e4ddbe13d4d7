import { isMap } from "../collections.ts";
import { type WrittenStep, writeSteps } from "../pipelines/written-steps.ts";
import type { Step } from "../vocabulary.ts";

// The public client of the hosted service decodes into types. One member of another form, in one step of one pipeline,
// and it reads no list of pipelines or builds any more.

const isText = (value: unknown) => typeof value === "string";
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText);

/** The forms that the client reads. Null is always one. */
const forms: Record<string, (value: unknown) => boolean> = {
  type: isText,
  name: isText,
  label: isText,
  command: isText,
  artifact_paths: isText,
  branch_configuration: isText,
  timeout_in_minutes: Number.isInteger,
  agent_query_rules: isTextList,
  env: (value) => isMap(value) && Object.values(value).every(isText),
  plugins: (value) => Array.isArray(value) && value.every(isMap),
};

/** Writes steps without members that have no effect and a form that the client cannot read. */
export function presentSteps(steps: Step[]): WrittenStep[] {
  return writeSteps(steps).map((step) => {
    const members = readable(step, forms);
    return "plugins" in members ? { ...members, plugins: withMaps(members.plugins) } : members;
  });
}

/** An agent fails a job with settings that are no map. */
function withMaps(plugins: unknown): unknown {
  if (!Array.isArray(plugins)) return plugins;
  return plugins.map((plugin: object) =>
    Object.fromEntries(
      Object.entries(plugin).map(([source, settings]) => [source, isMap(settings) ? settings : null]),
    ),
  );
}

const signatureForms: typeof forms = { value: isText, algorithm: isText, signed_fields: isTextList };

/** The signature of a step, without what the client cannot read. */
export function presentSignature(
  signature: Record<string, unknown> | null | undefined,
): Record<string, unknown> | null {
  return signature ? readable(signature, signatureForms) : null;
}

function readable(members: Record<string, unknown>, formsOf: typeof forms): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).filter(([name, value]) => value === null || (formsOf[name]?.(value) ?? true)),
  );
}
