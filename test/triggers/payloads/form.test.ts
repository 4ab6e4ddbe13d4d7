import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkPayload } from "../../../shared/triggers/payloads/check.ts";
import { readFormPayload } from "../../../shared/triggers/payloads/form.ts";

const read = (form: string) => readFormPayload(Buffer.from(form))?.toString();

describe("the payload of a form", () => {
  for (const [form, expected] of [
    ["payload=%7B%22a%22%3A+1%7D", '{"a": 1}'],
    ["payload={}&other=1", "{}"],
    ["other=1&payload=%7b%7d", "{}"],
    ["payload=1&payload=2", "1"],
    ["payload=", ""],
    ["payload=%", "%"],
    ["payload=%7", "%7"],
    ["payload=%7g%zz%%41", "%7g%zz%A"],
    ["payload=%C3%A4ä", "ää"],
    ["payload=a=b", "a=b"],
    ["", undefined],
    ["payload", undefined],
    ["xpayload=1", undefined],
    ["a=payload=1", undefined],
    ["Payload=1", undefined],
  ] as const)
    it(`of ${form || "nothing"} is ${expected}`, () => assert.equal(read(form), expected));

  it("is all of its memory", () => {
    const payload = readFormPayload(Buffer.from("payload=%7B%7D&more=1"));
    assert.deepEqual([payload?.buffer.byteLength, String(payload)], [2, "{}"]);
  });

  it("is freed if it is refused", async ({ mock }) => {
    const from = mock.method(Buffer, "from");

    const checked = await checkPayload(Buffer.from("payload=%7B"), { format: "form", maxDepth: 5 });

    assert.ok("problem" in checked);
    const [payload] = from.mock.calls.filter(({ arguments: [given] }) => given instanceof ArrayBuffer);
    assert.equal(payload?.result?.length, 0);
  });

  it("is the same as others read it", () => {
    const text = JSON.stringify({ text: "%+& ä€😀\n".repeat(40_000), "a b": "=" });
    for (const before of ["", "x=", "é", "%"]) {
      const form = new URLSearchParams({ before, payload: text }).toString();
      assert.equal(read(form), text);
    }
  });
});
