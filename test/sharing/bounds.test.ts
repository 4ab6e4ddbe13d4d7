import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { shares, stored, turns } from "../../shared/sharing/bounds.ts";
import { withHourlyBytes } from "../../shared/sharing/hourly-bytes.ts";
import { withBounds } from "../../shared/sharing/table.ts";

describe("the bounds", () => {
  it("are described in shared/sharing/README.md, which `npm run settings` writes", () => {
    const page = readFileSync("shared/sharing/README.md", "utf8");
    assert.equal(page, withHourlyBytes(withBounds(page)));
  });

  it("are used in the file that they name", () => {
    const uploads = "ingress/http/transfers/budget.ts"; // gets its bound from ingress/http/body.ts
    const { payloads, logs, artifactBytes, everything } = stored;
    const evicting = new Set<string>(
      [payloads, logs, artifactBytes, everything].map(({ file }) => file), // by the setting
    );
    for (const { file } of [turns, shares, stored].flatMap((each) => Object.values(each)))
      if (file !== uploads && !evicting.has(file))
        assert.match(readFileSync(file, "utf8"), /sharing\/bounds\.ts"/, file);
  });
});
