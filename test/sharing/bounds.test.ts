import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { withBounds } from "../../shared/sharing/table.ts";

describe("the bounds", () => {
  it("are described in shared/sharing/README.md, which `npm run settings` writes", () => {
    const page = readFileSync("shared/sharing/README.md", "utf8");
    assert.equal(page, withBounds(page));
  });
});
