import assert from "node:assert/strict";
import { it } from "node:test";
import { exactSize } from "../../shared/refusal.ts";

it("says a size exactly, in a fitting unit", () => {
  const sizes = [1, 1000, 1024, 1536, 100_000, 1024 ** 2, 1.5 * 1024 ** 2, 5 * 1024 ** 2, 100 * 1024 ** 2];

  assert.deepEqual([...sizes, 5_000_000].map(exactSize), [
    "1 bytes",
    "1,000 bytes",
    "1 KB",
    "1.5 KB",
    "100,000 bytes",
    "1 MB",
    "1.5 MB",
    "5 MB",
    "100 MB",
    "5,000,000 bytes",
  ]);
});
