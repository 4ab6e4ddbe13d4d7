import assert from "node:assert/strict";
import { it } from "node:test";
import { awaitReadiness } from "../../scripts/prove/converge.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { startWorld } from "../helpers/world.ts";

describeOnSqlite("npm run prove, before the first fault", (database) => {
  it("waits until all addresses and agents are ready, and names what is not", async () => {
    const world = await startWorld(database);
    const { url } = world;
    let looks = 0;
    await awaitReadiness([url], () => (looks++ < 2 ? ["agent.1"] : []));
    assert.equal(looks, 3);

    await assert.rejects(
      awaitReadiness([url], () => ["agent.2"], 0),
      /Not ready: agent\.2$/,
    );
    await world.close();
    await assert.rejects(
      awaitReadiness([url], () => [], 0),
      new RegExp(`Not ready: ${url}: fetch failed`),
    );
  });
});
