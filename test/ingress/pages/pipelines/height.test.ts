import assert from "node:assert/strict";
import { it } from "node:test";
import { pathTo, patterns } from "../../../../shared/paths.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the field of a document of steps", startQueuePages, (pages) => {
  it("has a row for each line, from 6 to 24", async () => {
    const path = pathTo(patterns.newPipelinePage, { org: "acme" });
    const rowsFor = async (lines: number) => {
      const configuration = Array.from({ length: lines }, () => "#").join("\n");
      const { text } = await pages.asAda.post(path, { configuration });
      return /<textarea[^>]*name="configuration"[^>]* rows="(\d+)"/.exec(text)?.[1];
    };

    assert.deepEqual([await rowsFor(1), await rowsFor(9), await rowsFor(30)], ["6", "9", "24"]);
  });
});
