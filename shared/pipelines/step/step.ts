import { z } from "zod";
import { anything, documentationOf, isMap, listOf } from "../../collections.ts";
import { nearestName } from "../../members/nearest.ts";
import type { Pieces } from "../../process/loop-pauses.ts";
import { excerpt, maxProblems } from "../../refusal.ts";
import type {
  CommandStep,
  GroupStep,
  ManualStep,
  ManualType,
  PlainStep,
  Step,
  TriggerStep,
  WaitStep,
} from "../../vocabulary.ts";
import type { GivenNotices } from "../notify/given.ts";
import { agentsProblem, namesSeveralQueues } from "./agents.ts";
import type { GivenCheckout } from "./checkout.ts";
import { type Given, givenBy, parseMembers } from "./declaration.ts";
import { choice, nullable } from "./forms.ts";
import { chooseStep } from "./kinds.ts";
import { manualMembers, namesOfManual } from "./manual.ts";
import { tokenProblem } from "./matrix.ts";
import { commandMembers, groupMembers, waitMembers } from "./members.ts";
import { triggerMembers } from "./trigger.ts";

// One step as callers send it. Its problems name its members.

const namesOfKinds = ["command", "commands", "block", "input", "wait", "trigger", "group", "plugins"];
const maxUnknown = 100;

type Context = z.core.$RefinementCtx;

const typeOf = (types: [string, ...string[]]) => z.enum(types).nullish();

const commandObject = z
  .looseObject({
    type: typeOf(["command", "commands", "script"]),
    ...givenBy(commandMembers),
  })
  .refine(hasCommand, {
    error: (issue) => commandProblem(issue.input as Given),
    path: ["command"],
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .transform((given, context): CommandStep => {
    const step: CommandStep = {
      ...parseMembers(commandMembers as never, given),
      ...othersOf(given, commandObject),
    };
    refuseBranches(step, context, given);
    refuseBoth(step, context, ["parallelism", "matrix"]);
    refuseAlone(step, context, ["concurrency", "concurrency_group"]);
    refuseAlone(step, context, ["concurrency_group", "concurrency"]);
    if (namesSeveralQueues([given.agents, given.agent_query_rules] as never))
      context.addIssue({ code: "custom", message: "Step names more than one queue", path: ["agents"] });
    const problem = agentsProblem(step);
    if (problem) context.addIssue({ code: "custom", message: problem, path: ["agents"] });
    const ofTokens = tokenProblem(step);
    if (ofTokens) context.addIssue({ code: "custom", message: ofTokens, path: ["matrix"] });
    return step;
  });

const waitObject = z
  .looseObject({
    type: typeOf(["wait", "waiter"]),
    wait: z.unknown().optional().meta({ description: "With any value: the step is a wait" }),
    waiter: z.unknown().optional().meta({ description: "Another name of wait" }),
    ...givenBy(waitMembers),
  })
  .transform((given, context): WaitStep => {
    const step: WaitStep = {
      type: "wait",
      ...parseMembers<object>(waitMembers as never, given),
      ...othersOf(given, waitObject),
    };
    refuseBranches(step, context, given);
    return step;
  });

function manualObject(type: ManualType) {
  const members = manualMembers(type);
  const object = z
    .looseObject({ type: typeOf(namesOfManual[type]), ...givenBy(members) })
    .transform((given, context): ManualStep => {
      const step: ManualStep = {
        type,
        ...parseMembers<object>(members as never, given),
        ...othersOf(given, object),
      };
      refuseBranches(step, context, given);
      return step;
    });
  return object;
}

const blockObject = manualObject("block");
const inputObject = manualObject("input");

const triggerObject = z
  .looseObject({ type: typeOf(["trigger"]), ...givenBy(triggerMembers) })
  .transform((given, context): TriggerStep => {
    const step: TriggerStep = {
      type: "trigger",
      ...parseMembers<{ trigger: string }>(triggerMembers as never, given),
      ...othersOf(given, triggerObject),
    };
    if (step.trigger === undefined)
      context.addIssue({ code: "custom", message: "Step trigger can't be blank", path: ["trigger"] });
    refuseBranches(step, context, given);
    return step;
  });

const plainObjects = {
  command: commandObject,
  wait: waitObject,
  block: blockObject,
  input: inputObject,
  trigger: triggerObject,
};

/** For the document only. */
const stepText = z.enum(["wait", "waiter", "block", "manual", "input"]);
const documented = [stepText, ...Object.values(plainObjects)] as const;

const plainStep = choice(plainObjects, (given) => {
  const chosen = chooseStep(given);
  if ("problem" in chosen || chosen.form !== "group") return chosen as never;
  return { problem: "Step group cannot be in a group", path: ["group"] };
}) as z.ZodType<PlainStep>;

/** A step of a group, read before its group. */
class ReadStep {
  readonly parsed: z.ZodSafeParseResult<PlainStep>;

  constructor(parsed: z.ZodSafeParseResult<PlainStep>) {
    this.parsed = parsed;
  }
}

const stepOfGroup = anything()
  .transform((given, context): PlainStep => {
    const { data, error } = given instanceof ReadStep ? given.parsed : plainStep.safeParse(given);
    if (!error) return data;
    for (const { message, path } of error.issues) context.addIssue({ code: "custom", message, path });
    return z.NEVER;
  })
  .meta(documentationOf(z.union(documented)));

const groupObject = z
  .looseObject({
    type: typeOf(["group"]),
    ...givenBy(groupMembers),
    steps: nullable(listOf(stepOfGroup, { error: "Steps must be a list" })),
  })
  .transform((given, context): GroupStep => {
    const step: GroupStep = {
      type: "group",
      ...parseMembers<object>(groupMembers as never, given),
      steps: given.steps ?? [],
      ...othersOf(given, groupObject),
    };
    refuseBranches(step, context, given);
    return step;
  });

/** A step of any kind. */
export const anyStep = choice({ ...plainObjects, group: groupObject }, chooseStep).meta(
  documentationOf(z.union([...documented, groupObject])),
);

/** Reads a step of any kind. The steps of a group are pieces of the work. */
export function* readStep(given: unknown): Pieces<z.ZodSafeParseResult<Step>> {
  const chosen = chooseStep(given);
  const isGroup = !("problem" in chosen) && chosen.form === "group";
  if (!isGroup || !isMap(given) || !Array.isArray(given.steps)) return anyStep.safeParse(given);
  const steps: unknown[] = [...given.steps];
  let problems = 0;
  for (const [index, each] of steps.entries()) {
    if (problems > maxProblems) break; // nor does the group's schema look at the others
    const parsed = plainStep.safeParse(each);
    problems += parsed.error?.issues.length ?? 0;
    steps[index] = new ReadStep(parsed);
    yield;
  }
  return anyStep.safeParse({ ...given, steps });
}

/** Other members have no effect, and are allowed. One that is nearly the name of the missing one is named first. */
function commandProblem(given: Given): string {
  for (const name of Object.keys(given).slice(0, maxUnknown)) {
    const isKnown = Object.hasOwn(commandMembers, name) || namesOfKinds.includes(name);
    const meant = isKnown ? undefined : nearestName(name, namesOfKinds);
    if (meant !== undefined) return `Step has no member named ${excerpt(name)}. Did you mean ${meant}?`;
  }
  return "Step command can't be blank";
}

/** Plugins may bring the command, or the type says that there is none. */
function hasCommand({ type, command, commands, plugins = [] }: Given): boolean {
  const given = command ?? commands ?? "";
  const isGiven = typeof given !== "string" || given.trim() !== "";
  return isGiven || typeof type === "string" || (Array.isArray(plugins) ? plugins.length > 0 : true);
}

function refuseBoth(step: object, context: Context, [one, other]: [string, string]): void {
  if (one in step && other in step)
    context.addIssue({ code: "custom", message: `Step cannot have both ${one} and ${other}`, path: [other] });
}

/** The step would run on branches that one of its members leaves out. */
function refuseBranches(step: object, context: Context, { branches, branch_configuration }: Given): void {
  refuseBoth(step, context, ["if", "branches"]);
  if (branches && branch_configuration && branches !== branch_configuration)
    refuseBoth({ branches, branch_configuration }, context, ["branches", "branch_configuration"]);
}

function refuseAlone(step: object, context: Context, [one, other]: [string, string]): void {
  if (one in step && !(other in step))
    context.addIssue({ code: "custom", message: `Step ${one} needs ${other}`, path: [one] });
}

const empty: unknown[] = [undefined, null, ""];
/** Members of which some parts may be read, and others not. */
const divided = ["checkout", "notify"];

/** Members that nothing reads. Null and empty text count as absent: clients send all members that they know. */
function othersOf(given: Given, schema: { in: z.ZodObject }): { others?: Given } {
  const entries = Object.entries(given).filter(
    ([name, value]) => !Object.hasOwn(schema.in.shape, name) && !empty.includes(value),
  );
  for (const name of divided.filter((each) => Object.hasOwn(schema.in.shape, each))) {
    const { others } = (given[name] ?? {}) as Partial<GivenCheckout | GivenNotices>;
    if (others && Object.keys(others).length > 0) entries.push([name, others]);
  }
  return entries.length > 0 ? { others: Object.fromEntries(entries) } : {};
}
