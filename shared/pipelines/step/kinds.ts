import { type Chosen, isMap } from "./forms.ts";

// The kind of a step: its type says it, else the first of these members.

export type StepKind = "command" | "wait" | "group";

const kindsByType = new Map<unknown, string>([
  ["command", "command"],
  ["commands", "command"],
  ["script", "command"],
  ["wait", "wait"],
  ["waiter", "wait"],
  ["group", "group"],
]);
const unsupportedKinds = ["block", "input", "manual", "trigger"];
const kindsByMember: [member: string, kind: string][] = [
  ["command", "command"],
  ["commands", "command"],
  ["plugins", "command"],
  ["wait", "wait"],
  ["waiter", "wait"],
  ...unsupportedKinds.map((kind): [string, string] => [kind, kind]),
  ["group", "group"],
];
/** Of these null says something. */
const speakingNulls = ["wait", "waiter", "group"];
/** The member of a nested form has the members of the step. */
const nesting: Partial<Record<StepKind, string[]>> = {
  command: ["command", "commands"],
  wait: ["wait", "waiter"],
};

/** Without one of these a step would not run as its author means. */
export const unsupportedMembers = [
  ...unsupportedKinds,
  "concurrency",
  "concurrency_group",
  "concurrency_method",
];

/** Chooses how a step is read: by its kind, with its members. */
export function chooseStep(given: unknown): Chosen<StepKind> {
  if (typeof given === "string") return chooseText(given);
  if (!isMap(given)) return { problem: "Steps must be objects" };
  const { kind, member } = kindOf(given);
  if (kind === undefined) return { problem: "Step type must be command, wait or group", path: ["type"] };
  if (unsupportedKinds.includes(kind)) return notSupported(kind, [member]);
  const form = kind as StepKind;
  return { form, value: unnest(given, nesting[form] ?? []) };
}

function chooseText(given: string): Chosen<StepKind> {
  if (kindsByType.get(given) === "wait") return { form: "wait", value: {} };
  return unsupportedKinds.includes(given) ? notSupported(given, []) : { problem: "Steps must be objects" };
}

function notSupported(kind: string, path: string[]) {
  return { problem: `Step ${kind} is not supported`, path };
}

function kindOf(given: Record<string, unknown>): { kind: string | undefined; member: string } {
  const { type } = given;
  if (type !== undefined && type !== null) {
    const kind = unsupportedKinds.find((each) => each === type) ?? kindsByType.get(type);
    return { kind, member: "type" };
  }
  const isPresent = (member: string) =>
    Object.hasOwn(given, member) && (given[member] !== null || speakingNulls.includes(member));
  const [member, kind] = kindsByMember.find(([each]) => isPresent(each)) ?? ["command", "command"];
  return { kind, member };
}

function unnest(given: Record<string, unknown>, members: string[]): Record<string, unknown> {
  const nest = members.find((member) => isMap(given[member]));
  if (nest === undefined) return given;
  const { [nest]: inner, ...others } = given;
  return { ...others, ...(inner as object) };
}
