import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, it } from "node:test";
import { compileFilter } from "../../../shared/triggers/filter/compile.ts";
import { evaluateFilter } from "../../../shared/triggers/filter/evaluate.ts";
import { filterInput } from "./filter-input.ts";

const events = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: { [member: string]: unknown }[];
}[];
const example = (name: string) => events.find((event) => event.name === name)?.examples[0];

const push = { headers: [["X-GitHub-Event", "push"]] as [string, string][], payload: example("push") };
const pullRequest = { payload: { ...example("pull_request"), action: "opened", number: 2 } };
const ping = { headers: [["X-GitHub-Event", "ping"]] as [string, string][], payload: example("ping") };
const issue = {
  payload: {
    action: "update",
    type: "Issue",
    data: { title: "Räum auf", priority: 2, labels: [{ name: "ci" }], assignee: null, estimate: 0.5 },
    updatedFrom: { stateId: "x" },
  },
};

const outcomeOf = (...question: Parameters<typeof filterInput>) => evaluateFilter(filterInput(...question));

describe("a filter on webhooks of GitHub", () => {
  for (const [expression, on, verdict] of [
    ["webhook.payload.ref == 'refs/heads/main'", push, false],
    ["webhook.payload.ref.startsWith('refs/tags/')", push, true],
    ["webhook.headers.HTTP_X_GITHUB_EVENT == 'push' && !webhook.payload.forced", push, true],
    ["webhook.payload.ref == 'refs/tags/' + string(webhook.payload.repository.name)", push, false],
    ["webhook.payload.repository.private", push, false],
    ["webhook.payload.repository.full_name.matches('(?i)^codertocat/')", push, true],
    ["matches(webhook.payload.repository.full_name, '^Nobody/')", push, false],
    ["webhook.payload.commits.size() == 0 && size(webhook.payload.commits) < 1", push, true],
    ["webhook.payload.head_commit == null", push, false],
    ["webhook.payload.number == 2 && webhook.payload.number in [1, 2]", pullRequest, true],
    ["webhook.payload.action in ['opened', 'synchronize']", pullRequest, true],
    ["webhook.payload.pull_request.base.ref != webhook.payload.pull_request.head.ref", pullRequest, true],
    ["webhook.payload.pull_request.draft ? false : webhook.payload.number > 1.5", pullRequest, true],
    ["webhook.headers['HTTP_X_GITHUB_EVENT'] != 'ping'", ping, false],
    ["has(webhook.payload.zen) && !has(webhook.payload.ref)", ping, true],
    ["'hook' in webhook.payload", ping, true],
  ] as const) {
    it(`${expression} is ${verdict}`, () => assert.deepEqual(outcomeOf(expression, on), { verdict }));
  }

  it("compares each member of every published example with itself", () => {
    const payloads = events.flatMap(({ examples }) => examples);
    assert.ok(payloads.length > 300);
    for (const payload of payloads) {
      assert.deepEqual(outcomeOf("webhook.payload == webhook.payload", { payload }), { verdict: true });
      for (const member of Object.keys(payload)) {
        assert.deepEqual(outcomeOf(`has(webhook.payload.${member})`, { payload }), { verdict: true }, member);
      }
    }
  });
});

describe("a filter that converts", () => {
  const payload = {
    count: "42",
    blank: "",
    hex: "0x1f",
    huge: "9223372036854775808",
    ratio: -1.9,
    big: 1e300,
    yes: "true",
    at: "2026-01-31T12:00:00.5+02:00",
    local: "2026-01-31T12:00:00",
    noDay: "2026-02-31T12:00:00Z",
    took: "1h30m",
    digits: "1".repeat(1_000_000),
    nothing: null,
  };
  const on = (member: string) => `webhook.payload.${member}`;
  for (const [expression, verdict] of [
    [`int(${on("count")}) == 42 && int('-7') < 0 && int(3) == 3`, true],
    [`int(${on("ratio")}) == -1`, true],
    ["int('9223372036854775807') > 0", true],
    [`bool(${on("yes")})`, true],
    [`timestamp(${on("at")}) == timestamp('2026-01-31T10:00:00.500Z')`, true],
    ["timestamp(webhook.created_at) < timestamp('2020-01-01T00:00:00Z')", false],
    [`duration(${on("took")}) == duration('90m') && duration('-1.5s') < duration('0s')`, true],
  ] as const) {
    it(`${expression} is ${verdict}`, () =>
      assert.deepEqual(outcomeOf(expression, { payload }), { verdict }));
  }

  for (const [call, sentence] of [
    ...["blank", "hex", "huge", "big", "digits"].map(
      (member) => [`int(${on(member)}) == 0`, /^int\(\) takes a number of 64 bits, at/] as const,
    ),
    [`int(${on("nothing")}) == 0`, /^Wrong types or number of values in 'int\(null\)'/],
    [`bool(${on("count")})`, /^Bool\(\) conversion error/],
    ...["local", "noDay", "blank", "digits", "count"].map(
      (member) =>
        [
          `timestamp(${on(member)}) == timestamp(webhook.created_at)`,
          /^timestamp\(\) takes a time such as/,
        ] as const,
    ),
    ...["blank", "digits", "count"].map(
      (member) =>
        [`duration(${on(member)}) == duration('1s')`, /^duration\(\) takes a text such as 1h30m/] as const,
    ),
  ] as const) {
    it(`${call} is an error`, () => {
      const outcome = outcomeOf(call, { payload });
      assert.match("error" in outcome ? outcome.error : "", new RegExp(sentence.source, "i"));
    });
  }
});

describe("a filter on webhooks of an issue tracker", () => {
  for (const [expression, verdict] of [
    ["webhook.payload.type == 'Issue' && webhook.payload.data.priority <= 2", true],
    ["webhook.payload.data.title.contains('äum')", true],
    ["webhook.payload.data.title.size() == 8", true],
    ["webhook.payload.data.title.upperAscii().trim().endsWith('AUF')", true],
    ["webhook.payload.data.labels[0].name == 'ci'", true],
    ["webhook.payload.data.assignee == null", true],
    ["has(webhook.payload.data.assignee)", true],
    ["webhook.payload.data.estimate == 0.5", true],
    ["webhook.payload.data.priority == '2'", false],
    ["webhook.payload.data.labels == [1]", false],
    ["has(webhook.payload.updatedFrom.stateId) || webhook.payload.nothing.at.all", true],
    ["webhook.payload.nothing.at.all && webhook.payload.action == 'create'", false],
    ["webhook.id == '01a1f8cc-9aab-75ef-a9a4-b4fea8495ff8'", true],
    ["webhook.created_at >= '2026-08-01T12:30:00.000Z' && webhook.created_at < '2026-08-02'", true],
    ["true // builds always", true],
  ] as const) {
    it(`${expression} is ${verdict}`, () => assert.deepEqual(outcomeOf(expression, issue), { verdict }));
  }
});

describe("a filter's view of headers", () => {
  const headers: [string, string | null][] = [
    ["x-event", "a"],
    ["X-Event", "b"],
    ["Content-Type", "application/json"],
    ["Authorization", null],
  ];

  for (const [expression, verdict] of [
    ["webhook.headers.HTTP_X_EVENT == 'a, b'", true],
    ["webhook.headers.HTTP_CONTENT_TYPE == 'application/json'", true],
    ["'CONTENT_TYPE' in webhook.headers", false],
    ["has(webhook.headers.HTTP_AUTHORIZATION)", false],
    ["size(webhook.headers) == 2", true],
  ] as const) {
    it(`${expression} is ${verdict}`, () =>
      assert.deepEqual(outcomeOf(expression, { headers }), { verdict }));
  }
});

describe("numbers and names in payloads", () => {
  for (const [text, expression, verdict] of [
    ['{"n":9007199254740993}', "webhook.payload.n == 9007199254740993", true],
    ['{"n":9007199254740993}', "webhook.payload.n == 9007199254740992", false],
    ['{"n":[-9007199254740993]}', "-9007199254740993 in webhook.payload.n", true],
    ['{"n":9223372036854775808}', "webhook.payload.n > 9223372036854775807", true],
    ['{"n":18446744073709551616}', "webhook.payload.n == 18446744073709551615", false],
    ["[18446744073709551616]", "webhook.payload[0] == 18446744073709551616", true],
    ["9007199254740993", "webhook.payload == 9007199254740993", true],
    ['{"n":1e400}', "webhook.payload.n > 9223372036854775807", true],
    ['{"n":-0}', "webhook.payload.n == 0", true],
    ['{"n":1.0}', "webhook.payload.n == 1", true],
    ['{"n":1,"n":2}', "webhook.payload.n == 2", true],
    ['{"id":"9007199254740993"}', "webhook.payload.id == '9007199254740993'", true],
    ['{"__proto__":{"a":1}}', "webhook.payload.__proto__.a == 1 && !has(webhook.payload.a)", true],
    ['{"constructor":"x","toString":1}', "webhook.payload.constructor == 'x'", true],
    ['{"constructor":"x","o":{"constructor":"x"}}', "webhook.payload.o == webhook.payload.o", true],
    ["{}", "has(webhook.payload.constructor) || has(webhook.payload.toString)", false],
    ["{}", "'__proto__' in webhook.payload || 'size' in webhook.payload", false],
    ['{"a":{"__proto__":{}},"b":{"x":{}}}', "webhook.payload.a == webhook.payload.b", false],
    ['{"s":"\\ud800"}', "webhook.payload.s.matches('^.$')", true],
    ['{"s":"\\u0000"}', "webhook.payload.s == '\\u0000'", true],
    ["null", "webhook.payload == null", true],
    ["[]", "webhook.payload == []", true],
  ] as const) {
    it(`${text}: ${expression} is ${verdict}`, () =>
      assert.deepEqual(outcomeOf(expression, { text }), { verdict }));
  }
});

describe("a filter that cannot be evaluated", () => {
  for (const [expression, error] of [
    ["webhook.payload.nope == 1", "No such key: nope, at line 1, column 17"],
    ["has(webhook.payload.nope.x)", "No such key: nope, at line 1, column 21"],
    ["webhook.payload.o.__proto__ == 1", "No such key: __proto__, at line 1, column 19"],
    ["webhook.payload.o.constructor == 1", "No such key: constructor, at line 1, column 19"],
    ["webhook.payload.s.length == 1", "No such key: length, at line 1, column 19"],
    [
      "webhook.payload.list[7] == 1",
      "No such key: index out of bounds, index 7 >= size 1, at line 1, column 1",
    ],
    ["webhook.payload.n < 'a'", "These types do not go together: double < string, at line 1, column 1"],
    ["'a' + webhook.payload.n == ''", "These types do not go together: string + double, at line 1, column 1"],
    ["!webhook.payload.s", "These types do not go together: !string, at line 1, column 1"],
    [
      "true &&\n webhook.payload.n.contains('a')",
      "Wrong types or number of values in 'double.contains(string)', at line 2, column 2",
    ],
    ["webhook.payload.s", "The result must be true or false, and is a text"],
    ["webhook.payload.n", "The result must be true or false, and is a number"],
    ["webhook.payload.list", "The result must be true or false, and is a list"],
    ["webhook.payload.o", "The result must be true or false, and is a map"],
    ["webhook.payload.nul", "The result must be true or false, and is null"],
  ] as const) {
    it(`${JSON.stringify(expression)}: ${error}`, () => {
      const payload = { n: 1, s: "a", o: { k: 1 }, list: [1], nul: null };
      assert.deepEqual(outcomeOf(expression, { payload }), { error });
    });
  }

  it("reports a stored filter that is invalid today", () => {
    assert.deepEqual(outcomeOf("foo"), {
      error: "Unknown variable foo: the only one is webhook, at line 1, column 1",
    });
  });

  it("reports a payload that is not JSON", () => {
    assert.deepEqual(outcomeOf("true", { text: "{" }), { error: "The payload cannot be read" });
  });

  it("does not repeat the payload", () => {
    const outcome = outcomeOf("webhook.payload[webhook.payload.key]", {
      payload: { key: "k".repeat(100_000) },
    });
    assert.ok("error" in outcome && outcome.error.length < 400);
  });
});

describe("the length of an expression", () => {
  it("is at most 256 bytes", () => {
    assert.ok("filter" in compileFilter(`true${" ".repeat(252)}`));
    const problem = "The expression is longer than 256 bytes";
    assert.deepEqual(compileFilter(`true${" ".repeat(253)}`), { problem });
  });

  it("counts bytes of UTF-8, not characters", () => {
    const of = (text: string) => `webhook.id != '${text}'`; // 16 bytes beside the text
    assert.ok("filter" in compileFilter(of("é".repeat(120))));
    assert.ok("problem" in compileFilter(of(`${"é".repeat(120)}x`)));
    assert.ok("filter" in compileFilter(of("😀".repeat(60))));
    assert.ok("problem" in compileFilter(of(`${"😀".repeat(60)}x`)));
  });
});
