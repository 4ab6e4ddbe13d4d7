import assert from "node:assert/strict";
import { it } from "node:test";
import { visitor } from "../../../../scripts/scratch/visitor.ts";
import { describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import { startPages } from "../../../helpers/pages.ts";

const ofDemo = { DEMO_FILE: "data/demo.txt" };

describeWorldOn(sqlite, "GET /sign-in, of a demo", withSettings(startPages, ofDemo), (pages) => {
  it("names the file with the password", async () => {
    const { text } = await visitor(pages.url).get("/sign-in");
    assert.match(text, /password of the demo are in <code>data\/demo\.txt<\/code>/);
  });
});

describeWorldOn(sqlite, "GET /sign-in, of any other installation", startPages, (pages) => {
  it("says nothing of a demo", async () => {
    const { text } = await visitor(pages.url).get("/sign-in");
    assert.match(text, /No account, or password forgotten\?/);
    assert.doesNotMatch(text, /demo/i);
  });
});
