import { anything, isMap } from "../../collections.ts";
import { andMore, excerpt, maxProblems } from "../../refusal.ts";
import { isStorable } from "../../validation.ts";
import type { AgentTags, CommandStep } from "../../vocabulary.ts";
import { agentRules, maxAgentRulesBytes, parseAgentRule } from "../agent-rules.ts";
import { combinationsOf, stepFiller } from "../matrix.ts";
import { scalarToText } from "./forms.ts";

// The agents that a step names: by a map of tags, by rules such as `os=linux`, or by a list of both.

/** Larger than any that `maxAgentRulesBytes` lets through. */
const maxGiven = 1000;

/** Rules as a caller gave them. */
export interface GivenRules {
  isMap: boolean;
  rules: [name: string, value: string][];
}

/**
 * Reads one form into rules. Text is one rule. Null values count as absent.
 * @param member begins the messages
 */
export function givenRules(member: string, { areMaps = true } = {}) {
  return anything()
    .transform((givenForm, context): GivenRules => {
      const given = typeof givenForm === "string" ? [givenForm] : givenForm;
      let problems = 0;
      const fail = (message: string) => {
        problems++;
        if (problems <= maxProblems) context.addIssue(message);
        if (problems === maxProblems + 1) context.addIssue(andMore);
      };
      const ofMap = (map: object): GivenRules["rules"] =>
        Object.entries(map).flatMap(([name, values]) =>
          [values ?? []].flat().map((value): [string, string] => {
            const text = scalarToText(value);
            const subject = name === "queue" ? queueOf(member) : `${member} ${excerpt(name)}`;
            if (text === undefined) fail(`${subject} must be text`);
            return [name, text ?? ""];
          }),
        );
      const ofItem = (item: unknown): GivenRules["rules"] => {
        if (typeof item === "string") return item.trim() === "" ? [] : [parseAgentRule(item)];
        if (areMaps && isMap(item)) return ofMap(item);
        fail(`${member} must be a list such as queue=default`);
        return [];
      };
      const isList = Array.isArray(given);
      const entries = isList ? given.length : isMap(given) ? Object.keys(given).length : 0;
      if (entries > maxGiven) {
        fail(`${member} can be ${maxGiven} at most`);
        return { isMap: !isList, rules: [] };
      }
      if (!isList && !areMaps) fail(`${member} must be a list such as queue=default`);
      else if (!isList && !isMap(given)) fail(`${member} must be an object or a list`);
      const rules = isList ? given.flatMap(ofItem) : areMaps && isMap(given) ? ofMap(given) : [];
      const problem = rules.map(([name, value]) => ruleProblem(name, value)).find((each) => each);
      if (problem) fail(`${member} ${problem}`);
      return { isMap: !isList, rules };
    })
    .meta(areMaps ? documentation : documentationOfRules);
}

const documentationOfRules = { type: "array", items: { type: "string" } };
const scalar = { type: ["string", "number", "boolean", "null"] };
const map = { type: "object", additionalProperties: { anyOf: [scalar, { type: "array", items: scalar }] } };
const documentation = {
  anyOf: [{ type: "string" }, map, { type: "array", items: { anyOf: [{ type: "string" }, map] } }],
};

function queueOf(member: string): string {
  return member.replace(/agents$/, member === "agents" ? "agents queue" : "queue");
}

function ruleProblem(name: string, value: string): string | undefined {
  if (name.trim() === "" || name.includes("=") || name === "__proto__")
    return `cannot have the name ${JSON.stringify(excerpt(name))}`;
  return isStorable(name) && isStorable(value) ? undefined : "must be text without NUL";
}

/** The tags of rules together. Absent: nothing names agents. */
export function toTags(given: (GivenRules | undefined)[]): AgentTags | undefined {
  const byName = Map.groupBy(
    given.flatMap((each) => each?.rules ?? []),
    ([name]) => name,
  );
  const tags = [...byName].flatMap(([name, rules]): [string, string | string[]][] => {
    const values = [...new Set(rules.map(([, value]) => value))].filter(
      (value) => name !== "queue" || value.trim() !== "",
    );
    const [first, ...others] = values;
    if (first === undefined) return [];
    return [[name, name === "queue" || others.length === 0 ? first : values]];
  });
  if (tags.length === 0 && !given.some((each) => each?.isMap)) return undefined;
  return Object.fromEntries(tags);
}

/** Returns true if the rules name two queues, which no job can have. */
export function namesSeveralQueues(given: (GivenRules | undefined)[]): boolean {
  const queues = given.flatMap((each) => each?.rules ?? []).filter(([name]) => name === "queue");
  return new Set(queues.map(([, key]) => key).filter((key) => key.trim() !== "")).size > 1;
}

/** The agents of the jobs that a step becomes. */
export function agentsOfJobs({ agents = {}, matrix }: CommandStep): AgentTags[] {
  if (!matrix || !JSON.stringify(agents).includes("{{")) return [agents];
  const fill = stepFiller({ agents });
  return combinationsOf(matrix).map(({ permutation }) => fill(permutation).agents);
}

/** Says if a step's rules are too large for the jobs' index. */
export function agentsProblem(step: CommandStep): string | undefined {
  const isLarge = agentsOfJobs(step).some((tags) => Buffer.byteLength(agentRules(tags)) > maxAgentRulesBytes);
  return isLarge ? "Step agents are too large: their rules have over 2,000 bytes" : undefined;
}
