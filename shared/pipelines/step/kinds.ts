import { isMap } from "../../collections.ts";
import type { Chosen } from "./forms.ts";

// The kind of a step: its type says it, else the first of these members.

export type StepKind = "command" | "wait" | "block" | "input" | "trigger" | "group";

const kindsByType = new Map<unknown, StepKind>([
  ["command", "command"],
  ["commands", "command"],
  ["script", "command"],
  ["wait", "wait"],
  ["waiter", "wait"],
  ["block", "block"],
  ["manual", "block"],
  ["input", "input"],
  ["trigger", "trigger"],
  ["group", "group"],
]);
const kindsByMember: [member: string, kind: StepKind][] = [
  ["command", "command"],
  ["commands", "command"],
  ["plugins", "command"],
  ["wait", "wait"],
  ["waiter", "wait"],
  ["block", "block"],
  ["input", "input"],
  ["manual", "block"],
  ["trigger", "trigger"],
  ["group", "group"],
];
/** Of these null says something. */
const speakingNulls = ["wait", "waiter", "group"];
/** Steps that may be text. */
const texts = ["wait", "waiter", "block", "manual", "input"];
/** The member of a nested form has the members of the step. */
const nesting: Record<StepKind, string[]> = {
  command: ["command", "commands"],
  wait: ["wait", "waiter"],
  block: ["block", "manual"],
  input: ["input"],
  trigger: ["trigger"],
  group: [],
};

/** Chooses how a step is read: by its kind, with its members. */
export function chooseStep(given: unknown): Chosen<StepKind> {
  if (typeof given === "string") return chooseText(given);
  if (!isMap(given)) return { problem: "Steps must be objects" };
  const form = kindOf(given);
  if (form === undefined)
    return { problem: "Step type must be command, wait, block, input, trigger or group", path: ["type"] };
  return { form, value: unnest(given, nesting[form]) };
}

function chooseText(given: string): Chosen<StepKind> {
  const form = texts.includes(given) ? kindsByType.get(given) : undefined;
  return form ? { form, value: {} } : { problem: "Steps must be objects" };
}

function kindOf(given: Record<string, unknown>): StepKind | undefined {
  const { type } = given;
  if (type !== undefined && type !== null) return kindsByType.get(type);
  const isPresent = (member: string) =>
    Object.hasOwn(given, member) && (given[member] !== null || speakingNulls.includes(member));
  const [, kind] = kindsByMember.find(([each]) => isPresent(each)) ?? ["command", "command" as const];
  return kind;
}

function unnest(given: Record<string, unknown>, members: string[]): Record<string, unknown> {
  const nest = members.find((member) => isMap(given[member]));
  if (nest === undefined) return given;
  const { [nest]: inner, ...others } = given;
  return { ...others, ...(inner as object) };
}
