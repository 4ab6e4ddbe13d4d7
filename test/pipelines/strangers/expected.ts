import assert from "node:assert/strict";
import type { ExpectedBuild, LeftOut, Stranger } from "./read.ts";

/** As REST shows it. */
export interface ShownJob {
  type: string;
  state: string;
  name: string | null;
  step_key: string | null;
  agent_query_rules: string[];
  broken_reason: string | null;
}

const reasons = ["if", "branches", "skip"] as const satisfies (keyof LeftOut)[];
const failures = ["failed", "waiting_failed", "blocked_failed"] as const satisfies (keyof ExpectedBuild)[];
const brokenReasons = { if: "conditional_failed", branches: "branch_mismatch", skip: undefined };

/** Each job ended as the index says. */
export function assertJobs(jobs: ShownJob[], expected: ExpectedBuild): void {
  const { left_out = {} } = expected;
  const commands = jobs.filter(({ type }) => type === "script");
  assert.equal(commands.length, expected.jobs, "jobs with commands");
  const named = jobs.filter(({ type }) => type !== "waiter");
  const combinations = new Map(Object.entries(left_out.matrix ?? {}));
  for (const job of named) {
    const [matrix = "", rest = 0] = [...combinations].find(([name]) => isOf(job, name)) ?? [];
    if (job.state === "broken" && rest > 0) combinations.set(matrix, rest - 1);
    else assertJob(job, expected);
  }
  for (const [name, rest] of combinations) assert.equal(rest, 0, `combinations of ${name}`);
  for (const name of reasons.flatMap((reason) => left_out[reason] ?? []))
    assert.ok(
      named.some((job) => isOf(job, name)),
      `${name} is in the build`,
    );
  const waits = jobs.filter(({ type, state }) => type === "waiter" && state === "broken");
  assert.equal(waits.length, left_out.waits ?? 0, "waits that are left out");
}

function assertJob(job: ShownJob, expected: ExpectedBuild): void {
  const isOneOf = (names: string[] = []) => names.some((name) => isOf(job, name));
  const reason = reasons.find((each) => isOneOf(expected.left_out?.[each]));
  const ended = failures.find((state) => isOneOf(expected[state])) ?? goodEnd(job, expected);
  assert.equal(job.state, reason ? "broken" : ended, nameOf(job));
  const brokenReason = reason && brokenReasons[reason];
  if (brokenReason) assert.equal(job.broken_reason, brokenReason, nameOf(job));
}

/** Each step for people is unblocked. */
function goodEnd({ type }: ShownJob, { state }: ExpectedBuild): string {
  if (type !== "manual") return "passed";
  return state === "failed" ? "unblocked_failed" : "unblocked";
}

/** The rules of all jobs are those of the index: tags of the document and of the step are merged. */
export function assertRules(jobs: ShownJob[], { agents }: Stranger): void {
  // A name alone means any value.
  const inOrder = (rules: string[]) =>
    rules
      .filter((rule) => rule !== "queue=default")
      .map((rule) => rule.replace(/=\*$/, ""))
      .toSorted()
      .join(" ");
  const differing = (each: string[][]) => [...new Set(each.map(inOrder))].filter(Boolean).toSorted();
  const ofJobs = jobs.filter(({ type }) => type === "script").map((job) => job.agent_query_rules);
  assert.deepEqual(differing(ofJobs), differing(agents));
}

/** The label of a job may end with the values of its matrix and its place among parallel jobs. */
function isOf(job: ShownJob, name: string): boolean {
  const own = nameOf(job);
  return own === name || own.startsWith(`${name} `);
}

export function nameOf({ step_key, name }: Pick<ShownJob, "step_key" | "name">): string {
  return step_key || name || "";
}
