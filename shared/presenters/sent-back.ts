import { isDeepStrictEqual } from "node:util";
import { isMap } from "../collections.ts";
import type { Member } from "../pipelines/step/declaration.ts";
import { commandMembers } from "../pipelines/step/members.ts";
import { triggerMembers } from "../pipelines/step/trigger.ts";
import type { Pipeline } from "../pipelines/store.ts";
import { validationFailed } from "../refusal.ts";
import { presentSteps } from "./readable-step.ts";

// Answers have some members under two names, and the steps beside their YAML. Callers change one of them, and send all back.

type Given = Record<string, unknown>;

/** Ours, then the hosted service's. */
const names = [
  ["label", "name"],
  ["agents", "agent_query_rules"],
  ["branches", "branch_configuration"],
  ["trigger", "pipeline"],
] as const;

/**
 * Leaves out members that a caller sends back as they were answered, where the body also has them under another name.
 * @param pipeline absent of a new one
 * @throws Refusal 422 if both names of a member are new, and differ
 */
export function withoutUnchangedNames(
  given: Given,
  pipeline: Pick<Pipeline, "steps" | "configuration"> = { steps: [], configuration: null },
): Given {
  if (!Array.isArray(given.steps)) return given;
  const { steps: _, configuration, ...others } = given;
  const steps: unknown[] = given.steps;
  const answered = presentSteps(pipeline.steps);
  const isText = typeof configuration === "string";
  if (isText && isDeepStrictEqual(steps, answered)) return { ...others, configuration };
  const isSame = configuration === pipeline.configuration;
  return {
    ...others,
    ...(configuration !== undefined && !isSame && { configuration }),
    steps: settleSteps(steps, answered),
  };
}

function settleSteps(given: unknown[], answered: Given[], place = "steps"): unknown[] {
  const byKey = new Map<unknown, Given>(answered.flatMap((step) => (step.key ? [[step.key, step]] : [])));
  return given.map((step, index) => {
    if (!isMap(step)) return step;
    return settleStep(step, byKey.get(step.key) ?? answered[index] ?? {}, `${place}[${index}]`);
  });
}

function settleStep(given: Given, answered: Given, place: string): Given {
  const step = { ...given };
  for (const [ours, theirs] of names) {
    if (step[ours] === undefined || step[theirs] === undefined) continue;
    if (isDeepStrictEqual(step[theirs], answered[theirs])) delete step[theirs];
    else if (isDeepStrictEqual(step[ours], answered[ours])) delete step[ours];
    else if (areContrary(step, ours, theirs))
      throw validationFailed({
        field: "steps",
        message: `${place}: ${ours} and ${theirs} differ: give one of them`,
      });
  }
  if (Array.isArray(step.steps))
    step.steps = settleSteps(step.steps, (answered.steps ?? []) as Given[], `${place}.steps`);
  return step;
}

/** False also if one of them has a problem, which its schema names. */
function areContrary(step: Given, ours: (typeof names)[number][0], theirs: string): boolean {
  const { given, parse }: Member<unknown> =
    ours === "trigger" ? triggerMembers.trigger : commandMembers[ours];
  const [one, other] = [ours, theirs].map((name) => given[name]?.safeParse(step[name]));
  if (!one?.success || !other?.success) return false;
  return !isDeepStrictEqual(parse({ [ours]: one.data }), parse({ [theirs]: other.data }));
}
