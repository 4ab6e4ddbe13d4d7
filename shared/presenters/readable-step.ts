import { isMap } from "../collections.ts";
import { agentRulesOfStep } from "../pipelines/agent-rules.ts";
import { type WrittenStep, writeSteps } from "../pipelines/written-steps.ts";
import { isCommandStep, isGroupStep, isTriggerStep, type Step } from "../vocabulary.ts";

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

/**
 * Writes steps with the members of the hosted service's answers beside ours. Leaves out members that have no effect and
 * a form that the client cannot read.
 */
export function presentSteps(steps: Step[]): WrittenStep[] {
  return writeSteps(steps).map((written, index) => {
    const step = steps[index] as Step;
    const { type: _, ...members } = readable(written, forms);
    const plugins = "plugins" in members && { plugins: withMaps(members.plugins) };
    const inner = isGroupStep(step) && { steps: presentSteps(step.steps) };
    return { type: typeOf(step), ...members, ...plugins, ...inner, ...documentedMembers(step) };
  });
}

/** As jobs have it. */
function typeOf(step: Step): string {
  if (isCommandStep(step)) return "script";
  if (step.type === "wait") return "waiter";
  return step.type === "block" ? "manual" : step.type;
}

/** Callers may send these, too (`sent-back.ts`). */
function documentedMembers(step: Step): WrittenStep {
  const { branches: branch_configuration = null } = step;
  if (isCommandStep(step)) {
    const { label: name = null, artifact_paths = null, env = {}, timeout_in_minutes = null } = step;
    const { concurrency = null, parallelism = null } = step;
    const agent_query_rules = agentRulesOfStep(step.agents);
    return {
      name,
      artifact_paths,
      branch_configuration,
      env,
      timeout_in_minutes,
      agent_query_rules,
      concurrency,
      parallelism,
    };
  }
  if (isTriggerStep(step)) {
    const { trigger: pipeline, async = false, parallelism = null } = step;
    const build = { message: null, branch: null, commit: null, env: null, ...step.build };
    return { pipeline, build, async, branch_configuration, concurrency: null, parallelism };
  }
  return branch_configuration === null ? {} : { branch_configuration };
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
