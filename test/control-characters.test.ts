import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { escapeControls, stripControls, toPrintableJson } from "../shared/control-characters.ts";

describe("control characters", () => {
  const odd = "a\u0007\u001b[31mb\u009b2J\u061c\u202e\u2066\u2028\ufeffc\r\n";

  it("are stripped with their sequences from what becomes part of a line", () => {
    assert.equal(stripControls(odd), "abc");
    assert.equal(stripControls("a\nb", " "), "a b");
    assert.equal(stripControls("Ünïcode 😀"), "Ünïcode 😀");
  });

  it("are escaped in JSON, which stays the same", () => {
    const json = toPrintableJson({ odd }, 2);

    assert.doesNotMatch(json.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}]/u);
    assert.deepEqual(JSON.parse(json), { odd });
  });

  it("are escaped in sentences, but for line feeds and tabs", () => {
    assert.equal(escapeControls("a\u009b\u{e0001}\tb\n"), "a\\u009b\\udb40\\udc01\tb\n");
  });
});
