import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Parser } from "yaml";
import { isAllowed, type JobClaims, parsePolicy } from "../../shared/secrets/policy.ts";

const job: JobClaims = {
  pipeline_id: "0198c0de-0000-7000-8000-000000000001",
  pipeline_slug: "web",
  build_branch: "release/1.0",
  build_source: "webhook",
  build_creator: "ada@acme.example.com",
  cluster_queue_id: "0198c0de-0000-7000-8000-000000000002",
  cluster_queue_key: "deploy",
};

function allows(text: string, more: JobClaims = {}): boolean {
  const parsed = parsePolicy(text);
  assert.ok("policy" in parsed, JSON.stringify(parsed));
  return isAllowed(parsed.policy, { ...job, ...more });
}

function problemsOf(text: string): string[] {
  const parsed = parsePolicy(text);
  return "problems" in parsed ? parsed.problems : [];
}

describe("the policy of a secret", () => {
  it("is not parsed if it opens too many lists", (t) => {
    const { mock } = t.mock.method(Parser.prototype, "parse");
    for (const bracket of ["[", "{a: "])
      assert.deepEqual(parsePolicy(bracket.repeat(1000)), { problems: ["Policy is nested too deeply"] });
    assert.equal(mock.callCount(), 0);
  });

  it("lets a job read that has all claims of one rule", () => {
    assert.ok(allows("- pipeline_slug: web\n  build_branch: release/1.0"));
    assert.ok(!allows("- pipeline_slug: web\n  build_branch: main"));
    assert.ok(allows("- pipeline_slug: other\n- cluster_queue_key: deploy"));
    assert.ok(!allows("- pipeline_slug: other\n- cluster_queue_key: default"));
  });

  it("takes a value or a list of them for each claim", () => {
    for (const [name, value] of Object.entries(job)) {
      assert.ok(allows(`- ${name}: ${value}`), name);
      assert.ok(allows(`- ${name}: [x, "${value}"]`), name);
      assert.ok(!allows(`- ${name}: [x, y]`), name);
    }
  });

  it("takes * in branches for any characters, and nowhere else", () => {
    assert.ok(allows("- build_branch: release/*"));
    assert.ok(allows('- build_branch: "*"'));
    assert.ok(!allows("- build_branch: feature/*"));
    assert.ok(!allows("- pipeline_slug: w*"));
    assert.ok(!allows('- build_branch: "!main"'));
  });

  it("compares addresses of creators in any case, and all else as it is", () => {
    assert.ok(allows("- build_creator: Ada@ACME.example.com"));
    assert.ok(!allows("- pipeline_slug: WEB"));
    const { build_creator: _, ...ofWebhook } = job;
    const parsed = parsePolicy("- build_creator: ada@acme.example.com");
    assert.ok("policy" in parsed && !isAllowed(parsed.policy, ofWebhook), "no creator");
  });

  it("matches no job by a team: there are none", () => {
    assert.ok(!allows("- build_creator_team: deployers"));
    assert.ok(allows("- build_creator_team: deployers\n- pipeline_slug: web"));
  });

  it("reads numbers and truth values as text", () => {
    assert.ok(allows("- build_branch: 12", { build_branch: "12" }));
    assert.ok(allows("- build_branch: [true]", { build_branch: "true" }));
  });

  it("is refused with its line and column, if it is no list of rules", () => {
    const claims =
      "pipeline_id, pipeline_slug, build_branch, build_source, build_creator, build_creator_team, cluster_queue_id, cluster_queue_key";
    assert.deepEqual(problemsOf("pipeline_slug: web"), ["Policy: line 1, column 1: must be a list of rules"]);
    assert.deepEqual(problemsOf("- pipeline_slug: web\n  branch: main"), [
      `Policy: line 2, column 3: branch is no claim: use ${claims}`,
    ]);
    assert.deepEqual(problemsOf("- branch: main"), [
      `Policy: line 1, column 3: branch is no claim: use ${claims}`,
    ]);
    assert.deepEqual(problemsOf("- web"), ["Policy: line 1, column 3: must be a map of claims"]);
    assert.deepEqual(problemsOf("- pipeline_slug: {a: b}"), [
      "Policy: line 1, column 3: must be text or a list of text",
    ]);
    assert.deepEqual(problemsOf("- pipeline_slug:"), [
      "Policy: line 1, column 3: must be text or a list of text",
    ]);
    assert.match(problemsOf("- pipeline_slug: [")[0] ?? "", /^Policy: line 1, column \d+: /);
  });

  it("is refused where it would let all jobs or none read", () => {
    assert.deepEqual(problemsOf("[]"), [
      "Policy: line 1, column 1: must have a rule: leave the policy empty to let all jobs of the cluster read",
    ]);
    assert.deepEqual(problemsOf("- {}"), [
      "Policy: line 1, column 3: must have a claim: it would let all jobs read",
    ]);
    assert.deepEqual(problemsOf("- pipeline_slug: []"), ["Policy: line 1, column 3: must have a value"]);
  });

  it("is refused if it nests or repeats without end", () => {
    const deep = `- pipeline_slug: ${"[".repeat(3000)}`;
    const many = `- &a [${"x,".repeat(500)}]\n- &b [${"*a,".repeat(300)}]\n- [${"*b,".repeat(300)}]`;
    for (const text of [deep, many]) assert.match(problemsOf(text)[0] ?? "", /^Policy/);
    assert.match(problemsOf("- __proto__: {pipeline_slug: web}")[0] ?? "", /no claim|must have a claim/);
  });
});
