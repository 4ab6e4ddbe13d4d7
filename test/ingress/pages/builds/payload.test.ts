import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { indent } from "../../../../ingress/pages/builds/payload.tsx";

const whole = (json: string) => indent(json, Number.POSITIVE_INFINITY).text;

describe("a payload, indented", () => {
  it("has a line for each member and element", () => {
    assert.equal(
      whole('{"a":[1,{"b":null}],"c":true}'),
      JSON.stringify({ a: [1, { b: null }], c: true }, null, 2),
    );
  });

  it("keeps big numbers, duplicate keys and escapes unchanged", () => {
    const json = String.raw`{"a":12345678901234567890,"a":1.0E+2,"\"{[,:":"\\\"\u00e9\ud800","x":"a  b"}`;
    assert.equal(
      whole(json),
      String.raw`{
  "a": 12345678901234567890,
  "a": 1.0E+2,
  "\"{[,:": "\\\"\u00e9\ud800",
  "x": "a  b"
}`,
    );
  });

  it("keeps empty values on one line, and drops their whitespace", () => {
    assert.equal(whole(' { "a" : { } ,\t"b":[\r\n] } '), '{\n  "a": {},\n  "b": []\n}');
    for (const json of ["{}", "[]", "null", "0", '""']) assert.equal(whole(json), json);
  });

  it("limits the indentation", () => {
    const lines = whole("[".repeat(500) + "]".repeat(500)).split("\n");
    assert.equal(lines[499], `${" ".repeat(48)}[]`);
    assert.ok(lines.every((line) => line.length <= 50));
  });

  it("is cut at the limit, with a remark", () => {
    const json = `[${"1,".repeat(1000)}1]`;
    const { text, isWhole } = indent(json, 100);
    assert.equal(text, whole(json).slice(0, 100));
    assert.equal(isWhole, false);
    assert.deepEqual(indent("[1]", 7), { text: "[\n  1\n]", isWhole: true });
    assert.equal(indent("[1]", 6).isWhole, false);
    assert.ok(indent(`"${"x".repeat(95)}\u{1f642}y"`, 97).text.isWellFormed(), "no half of a character");
  });

  it("accepts a string of many megabytes", () => {
    const long = `{"a":"${String.raw`\n`.repeat(10_000_000)}"}`;
    assert.equal(indent(long, 1000).text.length, 1000);
  });

  it("keeps the input's tokens for any JSON", () => {
    fc.assert(
      fc.property(fc.json({ depthSize: "large" }), fc.constantFrom(undefined, 1, "\t"), (json, space) => {
        const text = whole(JSON.stringify(JSON.parse(json), null, space));
        assert.equal(withoutSpace(text), withoutSpace(json));
        assert.deepEqual(JSON.parse(text), JSON.parse(json));
      }),
    );
  });
});

/** Keeps whitespace inside strings. */
function withoutSpace(json: string): string {
  let isInString = false;
  let isEscaped = false;
  let text = "";
  for (const character of json) {
    if (isInString || !" \t\r\n".includes(character)) text += character;
    if (character === '"' && !isEscaped) isInString = !isInString;
    isEscaped = isInString && character === "\\" && !isEscaped;
  }
  return text;
}
