import type { AgentTags } from "../vocabulary.ts";

// The rules by which a job names its agents: `os=linux`, or `gpu` for any value. The queue is no such rule.

/** Columns of jobs have the rules of a step, and an index has them too. */
export const maxAgentRulesBytes = 2000;

const anyValue = "*";

/** The rules as REST answers them, and as they are compared: each once, sorted. */
function splitAgentRules({ queue: _, ...tags }: AgentTags): string[] {
  const rules = Object.entries(tags).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => (value === anyValue ? name : `${name}=${value}`)),
  );
  return [...new Set(rules)].sort();
}

/** The rules of a step, the queue first. */
export function agentRulesOfStep(tags: AgentTags = {}): string[] {
  return [...(tags.queue === undefined ? [] : [`queue=${tags.queue}`]), ...splitAgentRules(tags)];
}

/** The rules as JSON. Jobs of equal rules have equal texts. Empty: any agent of the queue. */
export function agentRules(tags: AgentTags): string {
  const rules = splitAgentRules(tags);
  return rules.length > 0 ? JSON.stringify(rules) : "";
}

/** @param rules as `agentRules` makes them */
export function parseAgentRules(rules: string): string[] {
  return rules === "" ? [] : JSON.parse(rules);
}

/**
 * Returns true if all rules hold. Values match as a whole; of a tag that an agent has twice either may match.
 * @param rules as `agentRules` makes them
 * @param agentTags as agents register: `os=linux`
 */
export function matchesAgentRules(rules: string, agentTags: string[]): boolean {
  return matcherOf(agentTags)(parseAgentRules(rules));
}

/** Like `matchesAgentRules`, for many parsed rules and one agent. */
export function matcherOf(agentTags: string[]): (rules: string[]) => boolean {
  const tags = new Set(agentTags);
  const names = new Set(agentTags.map(nameOfTag));
  const holds = (rule: string) => (rule.includes("=") ? tags.has(rule) : names.has(rule));
  return (rules) => rules.every(holds);
}

function nameOfTag(tag: string): string {
  const end = tag.indexOf("=");
  return end === -1 ? tag : tag.slice(0, end);
}

/** Splits `os=linux`. A name alone stands for any value. */
export function parseAgentRule(rule: string): [name: string, value: string] {
  const end = rule.indexOf("=");
  if (end === -1) return [rule.trim(), anyValue];
  return [rule.slice(0, end).trim(), rule.slice(end + 1).trim()];
}
