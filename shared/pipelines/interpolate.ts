import {
  type AgentTags,
  type CommonStep,
  isCommandStep,
  isGroupStep,
  type PlainStep,
  type Step,
} from "../vocabulary.ts";

// Stored steps may name variables of their build in labels, keys and agents: `$BRANCH`, `${COMMIT:0:7}`, `${TAG:-none}`.
// Commands and variables are left to the shell. Agents replace variables in what they upload themselves.

type Read = (name: string) => string | null;

/** Returns true if a step may name variables. */
export function namesVariables(steps: Step[]): boolean {
  return steps.some(
    (step) =>
      [step.label, step.key, ...(step.depends_on ?? []).map((each) => each.step)].some(hasDollar) ||
      (isCommandStep(step) &&
        Object.values(step.agents ?? {})
          .flat()
          .some(hasDollar)) ||
      (isGroupStep(step) && namesVariables(step.steps)),
  );
}

function hasDollar(text: string | undefined): boolean {
  return text?.includes("$") ?? false;
}

/** Replaces variables in the labels, keys, dependencies and agents of steps. */
export function interpolateSteps(steps: Step[], read: Read): Step[] {
  return steps.map((step) =>
    isGroupStep(step)
      ? { ...step, ...common(step, read), steps: step.steps.map((each) => plain(each, read)) }
      : plain(step, read),
  );
}

function plain(step: PlainStep, read: Read): PlainStep {
  if (!isCommandStep(step) || !step.agents) return { ...step, ...common(step, read) };
  return { ...step, ...common(step, read), agents: tags(step.agents, read) };
}

function common({ label, key, depends_on }: CommonStep, read: Read): Partial<CommonStep> {
  return {
    ...(label !== undefined && { label: interpolate(label, read) }),
    ...(key !== undefined && { key: interpolate(key, read) }),
    ...(depends_on && {
      depends_on: depends_on.map((each) => ({ ...each, step: interpolate(each.step, read) })),
    }),
  };
}

function tags(agents: AgentTags, read: Read): AgentTags {
  const entries = Object.entries(agents).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((each) => interpolate(each, read)) : value && interpolate(value, read),
  ]);
  return Object.fromEntries(entries);
}

const variable = /\$\$|\\\$|\$\{([A-Za-z_]\w*)(?::(\d+)(?::(\d+))?|(:?-)([^}]*))?\}|\$([A-Za-z_]\w*)/g;

/** Of a value. Labels and tags are short. */
const maxLength = 200;

/** `$$` and `\$` stand for `$`. A variable that is not set is empty, unless a default is given. */
export function interpolate(text: string, read: Read): string {
  return text.replace(variable, (found, braced, from, length, dash, fallback = "", bare) => {
    const name = braced ?? bare;
    if (name === undefined) return found.endsWith("$") ? "$" : found;
    const value = read(name)?.slice(0, maxLength) ?? null;
    if (from !== undefined) {
      const start = Number(from);
      const part = (value ?? "").slice(start);
      return length === undefined ? part : part.slice(0, Number(length));
    }
    if (dash === "-") return value ?? fallback;
    return dash === ":-" ? value || fallback : (value ?? "");
  });
}
