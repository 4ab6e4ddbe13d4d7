import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileFilter } from "../../../shared/triggers/filter/compile.ts";

const write = "write webhook.id, webhook.created_at, webhook.payload, webhook.headers";
const noMethod = (name: string) =>
  `Values have no function .${name}(), only size, contains, startsWith, endsWith, matches, lowerAscii, upperAscii, trim`;
const noFunction = (name: string) =>
  `Filters have no function ${name}(), only has, size, matches, string, double, int, bool, timestamp, duration`;

const problems: [expression: string, sentence: string, line: number, column: number][] = [
  // Syntax
  ["1 +", "The expression ends too early", 1, 4],
  ["// only a comment", "The expression ends too early", 1, 18],
  ["(true", "Expected ), got the end", 1, 6],
  ["true)", "Unexpected )", 1, 5],
  ["true true", "Unexpected true", 1, 6],
  ["webhook.id = 'a'", "Unexpected =", 1, 12],
  ["webhook..id", "Expected a name, got .", 1, 9],
  ["true &&\n  'ab", "Unterminated string", 2, 3],
  ["'😀é' == #", "Unexpected #", 1, 9],
  ["webhook.id == '\\q'", "Invalid escape sequence: \\q", 1, 16],
  ["webhook.id == '\\ud800'", "Invalid Unicode surrogate: \\ud800", 1, 16],
  ["webhook.payload.n == 1e400", "Invalid number: Infinity", 1, 22],
  ["webhook.payload.in == 1", "Expected a name, got in", 1, 17],
  ["if", "Reserved identifier: if", 1, 1],
  // Names
  ["foo == 1", "Unknown variable foo: the only one is webhook", 1, 1],
  ["has(foo.bar)", "Unknown variable foo: the only one is webhook", 1, 5],
  ["__proto__ == 1", "Reserved identifier: __proto__", 1, 1],
  ["constructor == 1", "Unknown variable constructor: the only one is webhook", 1, 1],
  ["true ||\nwebhook.body == 1", `webhook has no body: ${write}`, 2, 9],
  ["has(webhook.toString)", `webhook has no toString: ${write}`, 1, 13],
  ["webhook['id'] == 'a'", `webhook is not a value by itself: ${write}`, 1, 1],
  ["webhook == webhook", `webhook is not a value by itself: ${write}`, 1, 1],
  ["has(webhook)", `webhook is not a value by itself: ${write}`, 1, 5],
  ["has(webhook.payload['a'])", "has() takes a member, as in has(webhook.payload.name)", 1, 5],
  // Macros
  ["webhook.payload.all(x, true)", noMethod("all"), 1, 1],
  ["[1].exists(x, x == 1)", noMethod("exists"), 1, 1],
  ["[1].exists_one(x, x == 1)", noMethod("exists_one"), 1, 1],
  ["[1].map(x, x) == [1]", noMethod("map"), 1, 1],
  ["[1].map(x, true, x) == [1]", noMethod("map"), 1, 1],
  ["[1].filter(x, true) == [1]", noMethod("filter"), 1, 1],
  ["cel.bind(x, 1, x == 1)", "Unknown variable cel: the only one is webhook", 1, 1],
  ["optional.of(1).hasValue()", "Unknown variable optional: the only one is webhook", 1, 1],
  ["webhook.payload.a.orValue(true)", noMethod("orValue"), 1, 1],
  // Unknown functions
  ["nope(1)", noFunction("nope"), 1, 1],
  ["type(1) == type(2)", noFunction("type"), 1, 1],
  ["timestamp(0) == timestamp(0)", "Wrong types or number of values in 'timestamp(int)'", 1, 1],
  ["duration(1) == duration('1s')", "Wrong types or number of values in 'duration(int)'", 1, 1],
  ["int(true) == 0", "Wrong types or number of values in 'int(bool)'", 1, 1],
  ["own_matches('a', '(')", noFunction("own_matches"), 1, 1],
  ["'a'.own_contains('a')", noMethod("own_contains"), 1, 1],
  ["timestamp('2026-01-31T00:00:00Z').getHours() == 0", noMethod("getHours"), 1, 1],
  ["webhook.id.split('') == []", noMethod("split"), 1, 1],
  ["[webhook.id].join('a') == ''", noMethod("join"), 1, 1],
  ["webhook.id.substring(1) == ''", noMethod("substring"), 1, 1],
  ["webhook.payload.toString() == ''", noMethod("toString"), 1, 1],
  // Forbidden syntax
  ["{'a': 1} == webhook.payload", "Maps cannot be written in filters", 1, 1],
  ["b'a' == b'a'", "Bytes and unsigned numbers are not available", 1, 1],
  ["1u == 1", "Bytes and unsigned numbers are not available", 1, 1],
  ["webhook.payload.a - 1 == 0", "Filters compare, they do not compute: - is not available", 1, 1],
  ["true && 2 * 3 == 6", "Filters compare, they do not compute: * is not available", 1, 9],
  ["6 / 2 == 3", "Filters compare, they do not compute: / is not available", 1, 1],
  ["6 % 2 == 0", "Filters compare, they do not compute: % is not available", 1, 1],
  ["1 + 1 == 2", "Filters do not compute: + needs a text on one side", 1, 1],
  ["[1] + [2] == []", "Filters do not compute: + needs a text on one side", 1, 1],
  ["webhook.payload.a + webhook.payload.b == 2", "Filters do not compute: + needs a text on one side", 1, 1],
  ["-webhook.payload.a == -1", "Filters compare, they do not compute: - must be followed by a number", 1, 1],
  // Types
  ["webhook.id == 1", "These types do not go together: string == int", 1, 1],
  ["webhook.headers.A == 1", "These types do not go together: string == int", 1, 1],
  ["size(webhook.payload) == 'a'", "These types do not go together: int == string", 1, 1],
  ["'a' + 1 == ''", "These types do not go together: string + int", 1, 1],
  ["!'a'", "These types do not go together: !string", 1, 1],
  ["webhook.id && true", "Logical operator requires bool operands, got 'string'", 1, 1],
  ["webhook.id ? true : false", "Ternary condition must be bool, got 'string'", 1, 9],
  ["size(1) == 1", "Wrong types or number of values in 'size(int)'", 1, 1],
  ["webhook.payload.a.contains()", "Wrong types or number of values in 'dyn.contains()'", 1, 1],
  ["webhook.payload.a.contains(1)", ".contains() takes a text", 1, 28],
  ["webhook.id.a == 1", "Cannot index type 'string'", 1, 12],
  ["['a'][true] == 'a'", "List index must be int, got 'bool'", 1, 1],
  // Patterns
  ["webhook.id.matches('(')", "The pattern cannot be used: missing closing )", 1, 20],
  ["matches(webhook.id, '[z-a]')", "The pattern cannot be used: invalid character class range", 1, 21],
  ["webhook.id.matches('(?=a)')", "The pattern cannot be used: invalid or unsupported Perl syntax", 1, 20],
  ["webhook.id.matches(r'(a)\\1')", "The pattern cannot be used: invalid escape sequence", 1, 20],
  ["webhook.id.matches('((a{99}){99}){99}')", "The pattern repeats too much (maximum is 5,000 parts)", 1, 20],
  ["webhook.id.matches('a{1001}')", "The pattern cannot be used: invalid repeat count", 1, 20],
  ["webhook.id.matches(webhook.payload.a)", "The pattern of matches() must be a text in quotes", 1, 36],
  ["webhook.id.matches('a' + 'b')", "The pattern of matches() must be a text in quotes", 1, 20],
  ["webhook.id.matches(1)", ".matches() takes a text", 1, 20],
];

describe("saving a filter is refused", () => {
  for (const [expression, sentence, line, column] of problems) {
    it(`for ${JSON.stringify(expression)}`, () => {
      const compilation = compileFilter(expression);
      assert.deepEqual(compilation, { problem: `${sentence}, at line ${line}, column ${column}` });
    });
  }

  for (const [expression, problem] of [
    ["", "The expression can't be blank"],
    [" \n\t", "The expression can't be blank"],
    ["webhook.id == '\0'", "The expression must be Unicode text without NUL"],
    ["webhook.id == '\ud800'", "The expression must be Unicode text without NUL"],
    ["webhook.id", "The expression must be true or false, and is always of type string"],
    ["1", "The expression must be true or false, and is always of type int"],
    ["null", "The expression must be true or false, and is always of type null"],
    ["[true]", "The expression must be true or false, and is always of type list<bool>"],
    ["webhook.headers", "The expression must be true or false, and is always of type map<string, string>"],
  ] as const) {
    it(`for ${JSON.stringify(expression)}: ${problem}`, () => {
      assert.deepEqual(compileFilter(expression), { problem });
    });
  }
});
