import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileFilter } from "../../../shared/triggers/filter/compile.ts";
import { openFilterEvaluator } from "../../../shared/triggers/filter/evaluator.ts";
import { onlyInFullRun } from "../../helpers/run-mode.ts";
import { filterInput } from "./filter-input.ts";

const megabyte = 1024 * 1024;
const tooLate = /^Evaluating the filter took longer than 10 seconds$/;

const hostile: [name: string, expression: string, text: string, ends: (true | false | RegExp)[]][] = [
  ...[
    "(a+)+$",
    "(a|aa)+$",
    "(a*)*b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(x+x+)+y",
    "(.*a){60}b",
    "((a{0,9}){9}){9}z",
  ].map((pattern): (typeof hostile)[number] => [
    `the pattern ${pattern}`,
    `webhook.payload.s.matches('${pattern}')`,
    JSON.stringify({ s: `${"a".repeat(megabyte)}!` }),
    [false],
  ]),
  [
    "a large pattern",
    "webhook.payload.s.matches('(a|b|c)*a(a|b){900}c[\\\\pL]{99}')",
    JSON.stringify({ s: "ab".repeat(2 * megabyte) }),
    [false, tooLate],
  ],
  [
    "a text that a fast search is slow to find",
    "webhook.payload.s.contains(webhook.payload.n)",
    JSON.stringify({
      s: "a".repeat(3 * megabyte),
      n: `${"a".repeat(megabyte / 2)}b${"a".repeat(megabyte / 2)}`,
    }),
    [false],
  ],
  ["126 parentheses", `${"(".repeat(126)}true${")".repeat(126)}`, "{}", [true]],
  ["120 lists", `${"[".repeat(120)}${"]".repeat(120)} != [[[]]]`, "{}", [true]],
  ["252 negations", `${"!".repeat(252)}true`, "{}", [true]],
  ["nested ternaries", `${"true?".repeat(22)}true${":false".repeat(22)}`, "{}", [true]],
  ["a row of ternaries", `${"false?false:".repeat(20)}true`, "{}", [true]],
  [
    "a text joined with itself again and again",
    `''${"+webhook.payload.s".repeat(13)} == ''`,
    JSON.stringify({ s: "a".repeat(5 * megabyte - 10) }),
    [false],
  ],
  [
    "a list of the payload, compared",
    "[webhook.payload,webhook.payload,webhook.payload]==[webhook.payload,webhook.payload,webhook.payload]",
    `{"a":[${"1,".repeat(1_000_000)}1]}`,
    [true, tooLate],
  ],
  ["five megabytes of objects", "size(webhook.payload) == 1700001", `[${"{},".repeat(1_700_000)}1]`, [true]],
  ["five megabytes of lists", "webhook.payload[0] == []", `[${"[],".repeat(1_700_000)}1]`, [true]],
  ["five megabytes of numbers", "webhook.payload[2] == 1", `[${"1,".repeat(2_500_000)}1]`, [true]],
  [
    "five megabytes of numbers, one of them long",
    "webhook.payload[0] == 9007199254740993",
    `[9007199254740993,${"1,".repeat(2_500_000)}1]`,
    [true, tooLate],
  ],
  ["a number of five megabytes", "webhook.payload > 1", "9".repeat(5 * megabyte), [true]],
  [
    "a text of five megabytes",
    "size(webhook.payload) == 5242878",
    JSON.stringify("a".repeat(5 * megabyte - 2)),
    [true],
  ],
  ["lists 512 deep", "webhook.payload == webhook.payload", `${"[".repeat(512)}${"]".repeat(512)}`, [true]],
  [
    "objects 512 deep",
    "webhook.payload == webhook.payload",
    `${'{"a":'.repeat(512)}1${"}".repeat(512)}`,
    [true],
  ],
  [
    "lists 100,000 deep",
    "webhook.payload == webhook.payload",
    `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    [true, /^The (payload cannot be read|expression is too complicated)$/],
  ],
  [
    "a lone surrogate",
    "webhook.payload.matches('.') && webhook.payload.lowerAscii() != ''",
    '"\\udfff"',
    [true],
  ],
  [
    "a key of a megabyte",
    "webhook.payload[webhook.payload.k]",
    `{"k":"${"k".repeat(megabyte)}"}`,
    [/^No such key: k+…/],
  ],
];

describe("a hostile filter", () => {
  const evaluate = openFilterEvaluator(10_000);

  for (const [name, expression, text, ends] of hostile) {
    const options = text.length > 2 * megabyte ? onlyInFullRun : {};
    it(`of ${name} ends, and the next one is evaluated`, options, async () => {
      assert.ok("filter" in compileFilter(expression), expression);

      const [[hostileOne], [next]] = await Promise.all([
        evaluate([filterInput(expression, { text })]),
        evaluate([filterInput("webhook.payload.n == 1", { payload: { n: 1 } })]),
      ]);
      const outcome = hostileOne?.outcome ?? { error: "none" };

      const isExpected = ends.some((end) =>
        "error" in outcome
          ? end instanceof RegExp && end.test(outcome.error)
          : "verdict" in outcome && end === outcome.verdict,
      );
      assert.ok(isExpected, JSON.stringify(outcome));
      assert.deepEqual(next?.outcome, { verdict: true });
    });
  }

  for (const expression of [
    `${"(".repeat(256)}`,
    `${"[".repeat(256)}`,
    `${"{".repeat(256)}`,
    `${"-".repeat(255)}1`,
    "true?".repeat(51),
    "webhook.payload.a.".repeat(14),
    `webhook.payload${".a".repeat(120)}`.slice(0, 255).concat("."),
    `webhook.payload${"[0]".repeat(80)}[`,
    `webhook.id.matches('${"(".repeat(230)}')`,
    "webhook.id.matches('(((((a{30}){30}){30}){30}){30})')",
    "webhook.id.matches('(a{1000}){1000}')",
    "webhook.id.matches('a{1001}')",
    `webhook.id.matches('${".{1000}".repeat(6)}')`,
    "'a' * 1000000000 == ''",
    "webhook.payload.s.split('').join(webhook.payload.s) == ''",
    `0x${"f".repeat(254)}`,
    `webhook.payload == ${"9".repeat(220)}u`,
    "[1].map(a,[1].map(b,[1].map(c,[1].map(d,1)))) == []",
  ]) {
    it(`is refused: ${expression}`, () => assert.ok("problem" in compileFilter(expression)));
  }
});
