import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openIntake } from "../../shared/triggers/deliveries/intake.ts";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { holdTransactions, startWorld } from "../helpers/world.ts";

/** Long enough for the first batch to close on a busy machine. */
const maxWaitMs = 1000;

describeOnSqlite("deliveries that wait for a slow commit", (database) => {
  it("are refused with 503 and Retry-After after the maximum wait, and later ones are stored", async () => {
    const world = await startWorld(database);
    const { services } = world;
    const { path } = await (await setUpOrganization(world)).trigger();
    const { transaction, begun, release } = holdTransactions(services);
    const intake = openIntake({ ...services, db: { ...services.db, transaction } }, maxWaitMs);
    const trigger = await intake.requireEnabledTrigger(path.slice("/deliver/".length));
    const body = await intake.checkBody(
      trigger.organizationId,
      { bytes: Buffer.from("{}") },
      new AbortController(),
    );
    const answers: string[] = [];
    const accept = async (name: string) => {
      const content = { contentType: "application/json", externalId: null, event: null, headers: [] };
      const outcome = await intake.accept({ ...content, trigger, keys: [], body }).then(
        (acceptance) => acceptance.outcome,
        (error) =>
          error instanceof DeliveryRefusal ? `${error.status} ${error.headers["Retry-After"]}` : error,
      );
      answers.push(`${name}: ${outcome}`);
    };

    const first = accept("first");
    await begun;
    const late = [accept("late"), accept("late")];
    await sleep(maxWaitMs * 1.5);
    release();
    await Promise.all([first, ...late]);
    await accept("last");

    assert.deepEqual(answers, ["first: accepted", "late: 503 10", "late: 503 10", "last: accepted"]);
    const stored = await services.db.select().from(services.db.tables.deliveries);
    assert.equal(stored.length, 2);
    await world.close();
  });
});
