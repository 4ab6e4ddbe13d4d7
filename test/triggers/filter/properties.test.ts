import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { compileFilter } from "../../../shared/triggers/filter/compile.ts";
import { evaluateFilter } from "../../../shared/triggers/filter/evaluate.ts";
import { repeat } from "../../helpers/run-mode.ts";
import { filterInput } from "./filter-input.ts";

/** Most combinations are nonsense. */
const pieces = fc
  .array(
    fc.constantFrom(
      ..."webhook|.|payload|headers|id|a|(|)|[|]|{|}|,|'|\"|'a'|1|1.5|-|+|!|==|<| in |&&|\\||?|:|has(|size(".split(
        "|",
      ),
      ...".matches('|.contains(|.all(x,|cel.bind(|string(|//|\n|\\|\\u0041|r'|b'|1u|0x|1e|é|😀|\0|null|true".split(
        "|",
      ),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

const expressions = [
  "webhook.payload == webhook.payload",
  "webhook.payload.a == webhook.payload.b",
  "webhook.payload in [webhook.payload]",
  "webhook.payload[0] < webhook.payload[1]",
  "webhook.payload.a in webhook.payload.b || webhook.payload.a.contains(webhook.payload.b)",
  "has(webhook.payload.__proto__) && size(webhook.payload) > 1",
  "string(webhook.payload).matches('^.*$')",
];

describe("filters with random input", () => {
  it("compiles any text or names the problem", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      pieces,
      pieces.map((text) => `webhook.id.matches(r'''${text}''')`),
    );
    let understood = 0;
    fc.assert(
      fc.property(anyText, (expression) => {
        const compilation = compileFilter(expression);
        if ("filter" in compilation) understood++;
        else assert.ok(compilation.problem.length > 0 && compilation.problem.length < 600);
      }),
      { numRuns: repeat(500, 5000) },
    );
    assert.ok(understood > 0);
  });

  it("returns a verdict or an error for any JSON", () => {
    const member = fc.constantFrom("a", "b", "__proto__", "constructor", "toString", "size", "length", "get");
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.array(tie("json"), { maxLength: 3 }),
        fc
          .array(fc.tuple(member, tie("json")), { maxLength: 4 })
          .map((members) => Object.fromEntries(members)),
      ),
    }));
    fc.assert(
      fc.property(json, fc.constantFrom(...expressions), (payload, expression) => {
        const outcome = evaluateFilter(filterInput(expression, { payload }));
        const isOutcome = "error" in outcome ? outcome.error !== "" : typeof outcome.verdict === "boolean";
        assert.ok(isOutcome, JSON.stringify(outcome));
      }),
      { numRuns: repeat(300, 3000) },
    );
  });

  it("compares any JSON equal to itself, with exact numbers", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }), (value, number) => {
        const text = `{"value":${JSON.stringify(value)},"same":${JSON.stringify(value)},"n":${number}}`;
        const expression = `webhook.payload.value == webhook.payload.same && webhook.payload.n == ${number}`;
        assert.deepEqual(evaluateFilter(filterInput(expression, { text })), { verdict: true });
      }),
    );
  });
});
