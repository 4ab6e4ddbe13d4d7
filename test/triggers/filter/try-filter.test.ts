import assert from "node:assert/strict";
import { before, it } from "node:test";
import { evictPayloads } from "../../../shared/triggers/payloads/payloads.ts";
import { unknownId } from "../../helpers/api.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { type MadeTrigger, openTriggerApi } from "../../helpers/trigger-api.ts";

const settings = { PAYLOAD_RETENTION_DAYS: "7" };

describeWorldOn(sqlite, "POST …/triggers/{id}/filter/test", withSettings(openTriggerApi, settings), (api) => {
  let trigger: MadeTrigger;
  let delivery: string;

  before(async () => {
    trigger = await api.newTrigger({ type: "github" });
    delivery = await api.deliver(trigger, '{"a":1}', { "X-GitHub-Event": "push" });
  });

  const test = (body: object, of: MadeTrigger = trigger) =>
    api.send("POST", `${api.triggersAt()}/${of.id}/filter/test`, { body });
  const asked = async (expression: string) => {
    const { status, body } = await test({ expression, delivery_id: delivery });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };

  it("answers the expression's result for a delivery's payload and headers", async () => {
    assert.deepEqual(await asked("webhook.payload.a == 1"), { result: true });
    assert.deepEqual(await asked("webhook.payload.a == 2"), { result: false });
    assert.deepEqual(await asked('webhook.headers.HTTP_X_GITHUB_EVENT == "push"'), { result: true });
    assert.deepEqual(await asked(`webhook.id == "${delivery}"`), { result: true });
  });

  it("explains an invalid expression or a failed evaluation", async () => {
    for (const expression of ["webhook.payload.a ==", "webhook.payload.missing == 1"]) {
      const { result, error } = await asked(expression);
      assert.equal(result, null);
      assert.ok(typeof error === "string" && error.length > 0, error);
    }
  });

  it("changes nothing: the delivery stays pending", async () => {
    await asked("webhook.payload.a == 1");
    const { body } = await api.send("GET", `${api.triggersAt()}/${trigger.id}/deliveries/${delivery}`);
    assert.deepEqual([body.status, body.builds], [null, []]);
  });

  it("finds only deliveries of its own trigger", async () => {
    const other = await api.newTrigger();
    const expression = "webhook.payload.a == 1";
    for (const [id, of] of [
      [delivery, other],
      [unknownId, trigger],
      ["x", trigger],
    ] as const) {
      const { status, body } = await test({ expression, delivery_id: id }, of);
      assert.deepEqual([status, body], [404, { message: "No delivery found" }]);
    }
  });

  it("answers 422 to an invalid body", async () => {
    const good = { expression: "true", delivery_id: delivery };
    const cases: [string, object][] = [
      ["Filter expression can't be blank", { ...good, expression: " " }],
      ["Filter expression can't be blank", { delivery_id: delivery }],
      ["Filter expression must be text", { ...good, expression: 1 }],
      [
        "Filter expression is too long (maximum is 256 characters)",
        { ...good, expression: `true${" ".repeat(253)}` },
      ],
      ["Delivery id must be text", { expression: "true" }],
      ["Delivery id must be text", { ...good, delivery_id: null }],
      ["Filter test has no member named x", { ...good, x: 1 }],
    ];
    for (const [reason, body] of cases) {
      const answer = await test(body);
      const message = `Validation failed: ${reason}`;
      assert.deepEqual([answer.status, answer.body], [422, { message }], JSON.stringify(body));
    }
  });

  it("answers 422 once the payload is evicted", async () => {
    await api.work(delivery);
    api.world.clock.advance(8 * 86_400_000);
    await evictPayloads(api.world.services);

    const { status, body } = await test({ expression: "webhook.payload.a == 1", delivery_id: delivery });

    const message = "The payload of this delivery is no longer kept";
    assert.deepEqual([status, body], [422, { message }]);
  });
});
