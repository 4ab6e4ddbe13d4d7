import {
  type AgentTags,
  type CommandStep,
  type CommonStep,
  isCommandStep,
  isGroupStep,
  isTriggerStep,
  type Notice,
  type PlainStep,
  type Step,
  type TriggerStep,
} from "../vocabulary.ts";
import type { Environment } from "./environment.ts";
import { noticesOf } from "./notify/notices.ts";
import { maxStepNameLength } from "./step/common.ts";

// Stored steps may name variables of their build in labels, keys, dependencies, agents, concurrency groups, notices and in
// what they trigger: `$BUILDKITE_BRANCH`, `${BUILDKITE_COMMIT:0:7}`, `${BUILDKITE_TAG:-none}`. Commands and `env` are left to
// the shell. Agents replace variables in what they upload themselves.

type Read = (name: string) => string | null;

/** Returns true if a step may name variables. */
export function namesVariables(steps: Step[]): boolean {
  return steps.some(
    (step) =>
      [step.label, step.key, ...(step.depends_on ?? []).map((each) => each.step)].some(hasDollar) ||
      noticesNameVariables(noticesOf(step)) ||
      (isCommandStep(step) && namesVariablesOfCommand(step)) ||
      (isTriggerStep(step) && hasDollar(JSON.stringify([step.trigger, step.build]))) ||
      (isGroupStep(step) && namesVariables(step.steps)),
  );
}

/** Conditions read variables themselves. */
export function noticesNameVariables(notices: Notice[]): boolean {
  return notices.some(({ if: _, ...said }) => hasDollar(JSON.stringify(said)));
}

function namesVariablesOfCommand({ agents = {}, concurrency_group }: CommandStep): boolean {
  return [...Object.values(agents).flat(), concurrency_group].some(hasDollar);
}

function hasDollar(text: string | undefined): boolean {
  return text?.includes("$") ?? false;
}

/** Variables may add so much to the steps of a build. Each place adds up to 200 characters: a small text can grow a hundred times. */
export const maxAddedCharacters = 1024 * 1024;

class TooLong extends Error {
  override readonly name = "TooLong";
}

/**
 * Replaces variables in the labels, keys, dependencies, agents and groups of steps, and in what they trigger.
 * @returns undefined if the variables would add more than `maxAddedCharacters`
 */
export function interpolateSteps(steps: Step[], read: Read): Step[] | undefined {
  return unlessTooLong((counted) => all(steps, counted(read)));
}

/**
 * Replaces variables in the `env` of a document. A variable may name others of the document; where it names itself, as in
 * `A: ${A:-none}`, that of the build is meant.
 * @param read the variables without those of the document
 * @returns undefined if the variables would add more than `maxAddedCharacters`
 */
export function interpolateEnvironment(environment: Environment, read: Read): Environment | undefined {
  if (!Object.values(environment).some(hasDollar)) return environment;
  return unlessTooLong((counted) => {
    const done = new Map<string, string>();
    const begun = new Set<string>();
    const resolve = counted((name) => {
      const text = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (text === undefined) return read(name);
      if (!begun.has(name)) {
        begun.add(name);
        done.set(name, interpolate(text, resolve));
      }
      return done.get(name) ?? read(name);
    });
    for (const name of Object.keys(environment)) resolve(name);
    return Object.fromEntries(done);
  });
}

/** Counts what the variables add. */
function unlessTooLong<Result>(replace: (counted: (read: Read) => Read) => Result): Result | undefined {
  let added = 0;
  const counted = (read: Read) => (name: string) => {
    const value = shortValue(read, name);
    added += value?.length ?? 0;
    if (added > maxAddedCharacters) throw new TooLong();
    return value;
  };
  try {
    return replace(counted);
  } catch (error) {
    if (error instanceof TooLong) return undefined;
    throw error;
  }
}

/** The most that variables can add to these steps, which is known without the variables. */
export function estimateAddedCharacters(steps: Step[]): number {
  if (!namesVariables(steps)) return 0;
  const places = JSON.stringify(steps).split("$").length - 1;
  return Math.min(places * maxLength, maxAddedCharacters);
}

/** As `interpolateSteps`, of notices. */
export function interpolateNotices(notices: Notice[], read: Read): Notice[] | undefined {
  return unlessTooLong((counted) => inNotices(notices, counted(read)));
}

function all(steps: Step[], read: Read): Step[] {
  return steps.map((step) =>
    isGroupStep(step)
      ? {
          ...step,
          ...common(step, read),
          ...notifying(step, read),
          steps: step.steps.map((each) => plain(each, read)),
        }
      : plain(step, read),
  );
}

function notifying(step: Step, read: Read): { notify?: Notice[] } {
  const notices = noticesOf(step);
  return notices.length > 0 ? { notify: inNotices(notices, read) } : {};
}

function inNotices(notices: Notice[], read: Read): Notice[] {
  return notices.map(({ if: condition, ...said }) => ({
    ...interpolateDeep(said, read),
    ...(condition !== undefined && { if: condition }),
  }));
}

function plain(step: PlainStep, read: Read): PlainStep {
  if (isTriggerStep(step)) return { ...step, ...common(step, read), ...triggered(step, read) };
  if (!isCommandStep(step)) return { ...step, ...common(step, read) };
  const { agents, concurrency_group } = step;
  return {
    ...step,
    ...common(step, read),
    ...notifying(step, read),
    ...(agents && { agents: tags(agents, read) }),
    ...(concurrency_group !== undefined && { concurrency_group: interpolate(concurrency_group, read) }),
  };
}

function triggered({ trigger, build }: TriggerStep, read: Read): Partial<TriggerStep> {
  return {
    trigger: interpolate(trigger, read),
    ...(build && { build: interpolateDeep(build, read) }),
  };
}

function interpolateDeep<Value>(value: Value, read: Read): Value {
  if (typeof value === "string") return interpolate(value, read) as Value;
  if (Array.isArray(value)) return value.map((each) => interpolateDeep(each, read)) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, interpolateDeep(inner, read)]);
  return Object.fromEntries(entries);
}

function common({ label, key, depends_on }: CommonStep, read: Read): Partial<CommonStep> {
  return {
    // Each job of a parallel step has it.
    ...(label !== undefined && {
      label: interpolate(label, read).slice(0, maxStepNameLength).toWellFormed(),
    }),
    ...(key !== undefined && { key: interpolate(key, read) }),
    ...(depends_on && {
      depends_on: depends_on.map((each) => ({ ...each, step: interpolate(each.step, read) })),
    }),
  };
}

function tags(agents: AgentTags, read: Read): AgentTags {
  const { queue, ...others } = Object.fromEntries(
    Object.entries(agents).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((each) => interpolate(each, read)) : value && interpolate(value, read),
    ]),
  );
  // A blank queue is none, as in steps that are stored.
  return { ...(typeof queue === "string" && queue.trim() !== "" && { queue }), ...others };
}

const variable = /\$\$|\\\$|\$\{([A-Za-z_]\w*)(?::(\d+)(?::(\d+))?|(:?-)([^}]*))?\}|\$([A-Za-z_]\w*)/g;
/** Where no `}` follows. A search for the end of each default would take over a second for 64 KB. */
const bareVariable = /\$\$|\\\$|\$([A-Za-z_]\w*)/g;

/** Of a value. Labels and tags are short. */
const maxLength = 200;

/**
 * `$$` and `\$` stand for `$`. A variable that is not set is empty, unless a default is given. Cut values keep no half of a
 * surrogate pair: Postgres reads no document with one.
 */
export function interpolate(text: string, read: Read): string {
  const end = text.lastIndexOf("}") + 1;
  const [closed, open] = [text.slice(0, end), text.slice(end)];
  const rest = open.replace(bareVariable, (_, name) => replacementOf(name, read));
  const replaced = closed.replace(variable, (_, braced, from, length, dash, fallback = "", bare) => {
    const name = braced ?? bare;
    if (from === undefined && dash === undefined) return replacementOf(name, read);
    const value = shortValue(read, name);
    if (from !== undefined) {
      const start = Number(from);
      const part = (value ?? "").slice(start);
      return length === undefined ? part : part.slice(0, Number(length));
    }
    if (dash === "-") return value ?? fallback;
    return value || fallback;
  });
  return `${replaced}${rest}`.toWellFormed();
}

/** `$$` and `\$` name no variable. */
function replacementOf(name: string | undefined, read: Read): string {
  return name === undefined ? "$" : (shortValue(read, name) ?? "");
}

function shortValue(read: Read, name: string): string | null {
  return read(name)?.slice(0, maxLength) ?? null;
}
