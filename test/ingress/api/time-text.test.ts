import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { timeText } from "../../../shared/presenters/time-text.ts";

describe("times of answers", () => {
  it("are written as JSON writes them, on whatever day the last one was", () => {
    const texts = [
      "2026-01-31T00:00:00.000Z",
      "2026-01-30T23:59:59.999Z",
      "2026-01-31T09:08:07.006Z",
      "2028-02-29T10:20:30.040Z",
      "1970-01-01T00:00:00.000Z",
      "1969-12-31T23:59:59.999Z",
      "9999-12-31T23:59:59.999Z",
      "+010000-01-01T00:00:00.001Z",
    ];
    for (const text of [...texts, ...texts.toReversed()]) {
      const time = new Date(text);
      assert.equal(timeText(time), text);
      assert.equal(JSON.stringify(timeText(time)), JSON.stringify(time));
    }
  });

  it("are null where there is none", () => {
    assert.equal(timeText(null), null);
  });
});
