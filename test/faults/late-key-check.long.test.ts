import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import Sqlite from "better-sqlite3";
import { checkSecretKey } from "../../shared/sealing/secret-key-check.ts";
import { sqlite } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { runIngress } from "../helpers/processes.ts";
import { startWorld } from "../helpers/world.ts";

describe("a process that could not check its SECRET_KEY at start", () => {
  it("writes nothing under a wrong key, and ends with 78", async () => {
    const world = await startWorld(sqlite);
    await checkSecretKey(world.services);
    const { path } = await (await setUpOrganization(world)).trigger();
    const client = new Sqlite(world.config.databaseUrl.slice("file:".length));
    client.exec("ALTER TABLE settings RENAME TO settings_away");
    const ingress = await runIngress({
      DATABASE_URL: world.config.databaseUrl,
      REDIS_URL: process.env.TEST_REDIS_URL ?? "",
      SECRET_KEY: "another key of at least 32 characters",
    });
    const ended = once(ingress.process, "exit");

    client.exec("ALTER TABLE settings_away RENAME TO settings");
    client.close();
    const { status } = await post(ingress.url + path, "{}");

    assert.equal(status, 503);
    assert.deepEqual(await ended, [78, null]);
    assert.match(ingress.output(), /SECRET_KEY is not the key/);
    assert.deepEqual(await world.services.db.select().from(world.services.db.tables.deliveries), []);
    await world.close();
  });
});
