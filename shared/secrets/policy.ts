import { z } from "zod";
import { matchesPattern } from "../conditions/branches.ts";
import { parseYaml } from "../pipelines/configuration/document.ts";
import { YamlProblem, YamlValues } from "../pipelines/configuration/values.ts";
import { scalarToText } from "../pipelines/step/forms.ts";
import { excerpt } from "../refusal.ts";
import { describePosition } from "../text-position.ts";

// The policy of a secret: a list of rules, in YAML. A job may read the secret if it has all claims of one rule.

export const claimNames = [
  "pipeline_id",
  "pipeline_slug",
  "build_branch",
  "build_source",
  "build_creator",
  /** No job has it: there are no teams here. */
  "build_creator_team",
  "cluster_queue_id",
  "cluster_queue_key",
] as const;
export type ClaimName = (typeof claimNames)[number];

/** The claims of a job. One that it lacks matches no value. */
export type JobClaims = Partial<Record<ClaimName, string>>;

type Rule = Partial<Record<ClaimName, string[]>>;
export type Policy = Rule[];

const maxProblems = 5;
/** A rule in a list of rules has lists of text. */
const maxLevels = 20;
const tooDeep = { problems: ["Policy is nested too deeply"] };

const valueError = "must be text or a list of text";
const scalar = z.preprocess((given) => scalarToText(given) ?? given, z.string({ error: valueError }));
const values = z.preprocess((given) => (Array.isArray(given) ? given : [given]), z.array(scalar));
const claim = values.refine((given) => given.length > 0, "must have a value");
const claims = Object.fromEntries(claimNames.map((name) => [name, claim.optional()]));

const rule = z
  .strictObject(claims, {
    error: ({ code, keys }) =>
      code === "unrecognized_keys"
        ? `${excerpt(keys?.[0] ?? "")} is no claim: use ${claimNames.join(", ")}`
        : "must be a map of claims",
  })
  .refine((given) => Object.keys(given).length > 0, {
    error: "must have a claim: it would let all jobs read",
    when: ({ issues }) => issues.length === 0,
  });
const policy = z
  .array(rule, { error: "must be a list of rules" })
  .min(1, "must have a rule: leave the policy empty to let all jobs of the cluster read");

/**
 * Parses a policy.
 * @returns problems that say line and column: `Policy: line 3, column 5: …`
 */
export function parsePolicy(text: string): { policy: Policy } | { problems: string[] } {
  const describe = (at: number, message: string) => `Policy: ${describePosition(text, at)}: ${message}`;
  if (opensTooMany(text)) return tooDeep;
  try {
    const read = new YamlValues(parseYaml(text));
    const parsed = policy.safeParse(read.value);
    if (parsed.success) return { policy: parsed.data as Policy };
    const issues = parsed.error.issues.slice(0, maxProblems);
    return { problems: issues.map((issue) => describe(read.locate(placeOf(issue)), issue.message)) };
  } catch (error) {
    if (error instanceof YamlProblem) return { problems: [describe(error.at, error.message)] };
    // The parser enters nested lists before anybody can count them.
    if (error instanceof RangeError) return tooDeep;
    throw error;
  }
}

/** To parse 4 KB of brackets takes 25 ms. */
function opensTooMany(text: string): boolean {
  let open = 0;
  for (const [bracket] of text.matchAll(/[[{\]}]/g)) {
    open += "[{".includes(bracket) ? 1 : -1;
    if (open > maxLevels) return true;
  }
  return false;
}

function placeOf(issue: z.core.$ZodIssue): PropertyKey[] {
  return issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : [...issue.path];
}

/** Says if a job may read a secret of this policy. */
export function isAllowed(rules: Policy, job: JobClaims): boolean {
  return rules.some((rule) =>
    Object.entries(rule).every(([name, wanted]) => {
      const own = job[name as ClaimName];
      return own !== undefined && wanted.some((value) => isMatch(name as ClaimName, value, own));
    }),
  );
}

function isMatch(name: ClaimName, wanted: string, own: string): boolean {
  if (name === "build_branch") return matchesPattern(wanted, own);
  if (name === "build_creator") return wanted.trim().toLowerCase() === own.toLowerCase();
  return wanted === own;
}
