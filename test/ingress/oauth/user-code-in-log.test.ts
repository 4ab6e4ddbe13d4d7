import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sqlite } from "../../helpers/databases.ts";
import { get } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

describe("GET /oauth/device/:code", () => {
  it("keeps the user code out of the log, even in mistyped addresses", async () => {
    const world = await startWorld(sqlite);

    for (const path of ["/oauth/device", "//oauth/device", "/OAuth/Device", "/oauth//device"])
      await get(`${world.url}${path}/BCDF-GHJK`);

    assert.equal(world.logged.filter((line) => line.includes('"request"')).length, 4 + 1); // redirects to sign-in
    assert.ok(!world.logged.join().includes("BCDF"));
    await world.close();
  });
});
