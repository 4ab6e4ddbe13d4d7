import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { listOf, record } from "../shared/collections.ts";
import { uploadedPipeline } from "../shared/pipelines/pipeline-document.ts";
import { validationFailed } from "../shared/refusal.ts";
import { toProblems } from "../shared/validation.ts";

/** Counts the entries that a schema looks at. */
function counting() {
  const looks = { entries: 0 };
  const entry = z.string({
    error: () => {
      looks.entries++;
      return "must be text";
    },
  });
  return { looks, entry };
}

describe("a list or a map of many wrong entries", () => {
  it("is read until there are more problems than an answer names", () => {
    const { looks, entry } = counting();
    const wrong = Array(10_000).fill(0);

    const list = listOf(entry, { error: "must be a list" }).safeParse(wrong);
    const map = record("Map", entry, { error: "must be a map" }).safeParse({ ...wrong });

    assert.ok(list.error && map.error);
    assert.equal(looks.entries, 42);
    assert.equal(list.error.issues.at(-1)?.message, "and more");
  });

  it("is refused unread if it is too long", () => {
    const { looks, entry } = counting();
    const parsed = listOf(entry, { error: "must be a list", max: 5, tooMany: "is too long" }).safeParse(
      Array(10_000).fill(0),
    );

    assert.equal(parsed.error?.issues[0]?.message, "is too long");
    assert.equal(looks.entries, 0);
  });
});

describe("a refusal", () => {
  it("names 20 problems, and says how many more there are", () => {
    const problems = Array.from({ length: 33 }, (_, index) => ({ field: "", message: `problem ${index}` }));
    const { message, problems: named } = validationFailed(...problems);
    assert.match(message, /problem 19, and 13 more$/);
    assert.equal(named.length, 21);
  });

  it("is short, whatever it repeats of the request", () => {
    const problems = Array.from({ length: 33 }, () => ({ field: "", message: "é".repeat(10_000) }));
    assert.ok(Buffer.byteLength(validationFailed(...problems).message) < 16_384);
  });
});

describe("60 KB of wrong members in uploaded steps", () => {
  const many = (value: unknown) => Array(15_000).fill(value);
  const names = (value: unknown) =>
    Object.fromEntries(many(value).map((each, index) => [`- ${index}`, each]));
  const members: Record<string, unknown> = {
    ...{ command: many({}), branches: many({}), artifact_paths: many({}), secrets: many({}) },
    ...{ soft_fail: many(""), agents: many([]), agent_query_rules: many({}), plugins: many(0) },
    ...{ depends_on: many({}), env: names([]), retry: { automatic: many({}) } },
    ...{ matrix: { setup: names({}), adjustments: many(0) }, checkout: { sparse: { paths: many(0) } } },
  };
  const bodies: [string, unknown][] = [
    ...Object.entries(members).map(([name, value]): [string, unknown] => [
      name,
      [{ command: "x", [name]: value }],
    ]),
    ["fields", [{ block: "x", fields: many({}) }]],
    ["options", [{ block: "x", fields: [{ select: "x", key: "x", options: many(0) }] }]],
    ["build", [{ trigger: "x", build: { env: names(0), meta_data: names([]) } }]],
    ["steps of a group", [{ group: "x", steps: many(0) }]],
    ["steps", Array.from({ length: 400 }, () => ({ command: many({}).slice(0, 9), secrets: [{}, {}, {}] }))],
    ["conditions", Array.from({ length: 400 }, () => ({ command: "x", if: "((" }))],
    ["secrets of all", { secrets: many({}), steps: [] }],
    ["agents of all", { agents: many(0), steps: [] }],
  ];
  for (const [name, body] of bodies)
    it(`is answered briefly: ${name}`, () => {
      const { error } = uploadedPipeline.safeParse(body);
      assert.ok(error);
      assert.ok(error.issues.length < 60, `${error.issues.length} problems were made`);
      const { message, problems } = validationFailed(...toProblems(error));
      assert.ok(problems.length <= 21);
      assert.ok(Buffer.byteLength(JSON.stringify(message)) < 16_384);
    });
});
