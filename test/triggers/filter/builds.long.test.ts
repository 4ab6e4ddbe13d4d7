import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Actor } from "../../../shared/accounts/audit.ts";
import { updateOrganization } from "../../../shared/accounts/organizations.ts";
import { openFilterEvaluator } from "../../../shared/triggers/filter/evaluator.ts";
import { deletePayloads } from "../../../shared/triggers/payloads/store.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { buildOfDelivery, decideDue, findDelivery } from "../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { post } from "../../helpers/http.ts";
import { openAcme } from "../../helpers/organization.ts";

describeWorldOn(sqlite, "builds of a trigger with a filter", openAcme, (world) => {
  let actor: Actor;

  before(async () => {
    const features = { webhook_filtering: true };
    actor = {
      ...world.acme.operator,
      organization: await updateOrganization(world.services, "acme", { features }),
    };
  });

  const send = async (path: string, payload: string, headers = {}) =>
    (await post(world.url + path, payload, headers)).body.id as string;
  const outcomeOf = async (id: string) => {
    const delivery = await findDelivery(world, id);
    const build = await buildOfDelivery(world, id);
    return [delivery?.status, delivery?.reason, build !== undefined];
  };

  it("are created for passing deliveries in order of arrival, after unfiltered ones", async () => {
    const filtered = await world.acme.trigger({
      filter: "webhook.payload.n > 2 || webhook.headers.HTTP_X_RUN == 'yes'",
    });
    const other = await world.acme.trigger();
    const ids = [
      await send(filtered.path, '{"n":3}'),
      await send(filtered.path, '{"n":1}'),
      await send(filtered.path, '{"n":1}', { "X-Run": "yes" }),
      await send(filtered.path, '{"m":1}'),
      await send(filtered.path, '"text"'),
      await send(other.path, '{"n":1}'),
    ];

    await decideDue(world.services, openFilterEvaluator(60_000));

    assert.deepEqual(await Promise.all(ids.map(outcomeOf)), [
      ["build_created", null, true],
      // the filter's header was missing
      ["not_run", "filter_evaluation_failed", false],
      ["build_created", null, true],
      ["not_run", "filter_evaluation_failed", false],
      ["not_run", "filter_evaluation_failed", false],
      ["build_created", null, true],
    ]);
    const numbers = await Promise.all(
      [5, 0, 2].map(async (at) => (await buildOfDelivery(world, ids[at] as string))?.number),
    );
    assert.deepEqual(numbers, [1, 2, 3], "the unfiltered one does not wait");
  });

  it("record a mismatch only for false", async () => {
    const { path } = await world.acme.trigger({ filter: "webhook.payload.a == 1" });
    const ids = [await send(path, '{"a":2}'), await send(path, '{"a":"1"}'), await send(path, '{"a":null}')];
    await decideDue(world.services);
    for (const id of ids) assert.deepEqual(await outcomeOf(id), ["not_run", "filter_mismatch", false]);
  });

  it("use the trigger's filter at the time of the decision", async () => {
    const trigger = await world.acme.trigger({ filter: "webhook.payload.a == 1" });
    const id = await send(trigger.path, '{"a":1}');
    const evaluate = openFilterEvaluator(60_000);
    let evaluations = 0;

    await decideDue(world.services, async (inputs) => {
      const outcomes = await evaluate(inputs);
      if (evaluations++ === 0)
        await updateTrigger(world.services, actor, trigger, { filter: "webhook.payload.a == 2" });
      return outcomes;
    });

    assert.equal(evaluations, 2);
    assert.deepEqual(await outcomeOf(id), ["not_run", "filter_mismatch", false]);
  });

  it("stay pending while filters are unavailable, and follow later", async () => {
    const { path } = await world.acme.trigger({ filter: "webhook.payload.a == 1" });
    const id = await send(path, '{"a":1}');

    await decideDue(world.services, () => Promise.reject(new Error("The thread could not start")));

    assert.deepEqual(await outcomeOf(id), [null, null, false]);
    assert.ok(world.logged.some((line) => line.includes("could not start")));
    await decideDue(world.services);
    assert.deepEqual(await outcomeOf(id), ["build_created", null, true]);
  });

  it("do not run without a payload", async () => {
    const { path } = await world.acme.trigger({ filter: "true" });
    const id = await send(path, "{}");
    await world.services.db.transaction((tx) => deletePayloads(tx, [id]));

    await decideDue(world.services);

    assert.deepEqual(await outcomeOf(id), ["not_run", "filter_evaluation_failed", false]);
  });
});
