import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startIngress } from "../../../ingress/server.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import { post } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { holdTransactions, startWorld } from "../../helpers/world.ts";

describeOnSqlite("an ingress that is stopped while it handles a request", (database) => {
  it("closes the connection with the answer: a client that keeps it would hold up the stop", async () => {
    const world = await startWorld(database, { SHUTDOWN_SECONDS: "10" });
    const { services } = world;
    const { path } = await (await setUpOrganization(world)).trigger();
    const { transaction, begun, release } = holdTransactions(services);
    const hotDb = { ...services.hotDb, transaction };
    const ingress = await startIngress({ ...services, hotDb });
    const answering = post(ingress.url + path, "{}");
    await begun;

    const stopping = ingress.close();
    release();

    const { status, headers } = await answering;
    assert.deepEqual([status, headers.get("connection")], [201, "close"]);
    await stopping;
    await world.close();
  });
});

describeOnSqlite("an ingress that is stopped while its last writes hang", (database) => {
  it("ends in time, and says what it left", async () => {
    const world = await startWorld(database, { SHUTDOWN_SECONDS: "1" });
    const { services } = world;
    const { path } = await (await setUpOrganization(world)).trigger();
    const { transaction, release } = holdTransactions(services);
    const ingress = await startIngress({ ...services, db: { ...services.db, transaction } });
    const refused = await post(ingress.url + path, "{}", { "Content-Type": "text/plain" });
    assert.equal(refused.status, 415);

    const stopped = await Promise.race([ingress.close().then(() => true), sleep(10_000, false)]);

    assert.ok(stopped);
    const [line = ""] = world.logged.filter((each) => each.includes("stops in the middle"));
    assert.deepEqual(JSON.parse(line).unfinished, ["refusal counts", "refused requests"]);
    release();
    await world.close();
  });
});
