import assert from "node:assert/strict";
import { it } from "node:test";
import type { Refusal } from "../../../shared/refusal.ts";
import { type EvaluateFilters, openFilterEvaluator } from "../../../shared/triggers/filter/evaluator.ts";
import { type FilterTestOptions, testFilterOnLatest } from "../../../shared/triggers/filter/filter-tests.ts";
import { deletePayloads } from "../../../shared/triggers/payloads/store.ts";
import { listTriggersById } from "../../../shared/triggers/store.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { openTriggerApi } from "../../helpers/trigger-api.ts";

const never = new AbortController().signal;

describeWorldOn(sqlite, "a filter that is tried on the latest deliveries", openTriggerApi, (api) => {
  /** Makes a trigger with a delivery of each body. */
  const setUp = async (bodies: string[], options: FilterTestOptions = {}) => {
    const made = await api.newTrigger();
    const ids: string[] = [];
    for (const body of bodies) ids.push(await api.deliver(made, body));
    const { db } = api.world.services;
    const [trigger = assert.fail()] = await db.transaction(async (tx) => listTriggersById(tx, [made.id]));
    const organizationId = `organization of ${trigger.id}`;
    const run = (expression: string, deliveryId = ids.at(-1) ?? "", signal = never) =>
      testFilterOnLatest(
        api.world.services,
        { organizationId, trigger, expression, deliveryId },
        signal,
        options,
      );
    return { made, ids, run };
  };
  const trialsOf = ({ latest }: Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>["run"]>>) =>
    latest.map(({ trial }) =>
      "verdict" in trial ? trial.verdict : "untried" in trial ? trial.untried : "error",
    );

  it("says true, false or the error of each, the newest first", async () => {
    const { ids, run } = await setUp(['{"a":1}', '{"a":2}', "{}"]);

    const tried = await run("webhook.payload.a == 1", ids[0]);

    assert.deepEqual(tried.chosen, { verdict: true, values: [{ member: "webhook.payload.a", value: "1" }] });
    assert.deepEqual(trialsOf(tried), ["error", false, true]);
    assert.deepEqual(tried.latest.map(({ delivery }) => delivery.id).reverse(), ids);
  });

  it("is tried on 20, and on the chosen one if it is older", async () => {
    const { ids, run } = await setUp(Array.from({ length: 21 }, (_, at) => `{"a":${at}}`));

    const tried = await run("webhook.payload.a == 0", ids[0]);

    assert.ok("verdict" in tried.chosen && tried.chosen.verdict);
    assert.deepEqual(
      trialsOf(tried),
      Array.from({ length: 20 }, () => false),
    );
  });

  it("is not tried on what is over the bound of bytes, but always on the chosen one", async () => {
    const large = `{"a":1,"b":"${"x".repeat(100)}"}`;
    const { ids, run } = await setUp([large, '{"a":1}', large, '{"a":1}'], { maxLatestBytes: 14 });

    assert.deepEqual(trialsOf(await run("webhook.payload.a == 1", ids[0])), [true, "too_large", true, true]);
    assert.deepEqual(trialsOf(await run("webhook.payload.a == 1", ids[1])), [
      true,
      "too_large",
      true,
      "too_large",
    ]);
  });

  it("is not tried on a payload that is gone", async () => {
    const { ids, run } = await setUp(["{}", "{}"]);
    await api.world.services.db.transaction((tx) => deletePayloads(tx, ids.slice(0, 1)));

    assert.deepEqual(trialsOf(await run("true")), [true, "no_payload"]);
  });

  it("is tried on none if it cannot be parsed", async () => {
    const { run } = await setUp(["{}", "{}"]);
    const { chosen, latest } = await run("webhook.payload.a ==");
    assert.ok("error" in chosen);
    assert.deepEqual(latest, []);
  });

  /** The first evaluation is done, the others wait until their signal aborts. */
  const stuck = (onWait: () => void = () => {}): EvaluateFilters => {
    const evaluate = openFilterEvaluator();
    let isFirst = true;
    return (inputs, signal) => {
      if (isFirst) {
        isFirst = false;
        return evaluate(inputs, signal);
      }
      onWait();
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    };
  };

  it("is tried until the deadline of all together", async () => {
    const { run } = await setUp(["{}", "{}", "{}"], { evaluate: stuck(), latestDeadlineMs: 1 });

    assert.deepEqual(trialsOf(await run("true")), [true, "no_time", "no_time"]);
  });

  it("takes one turn of its organization, which ends when the caller disconnects", async () => {
    const caller = new AbortController();
    let begun = () => {};
    const isWaiting = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { run } = await setUp(["{}", "{}"], { evaluate: stuck(begun), latestDeadlineMs: 2 ** 31 - 1 });
    const first = run("true", undefined, caller.signal);
    await isWaiting;
    const others = new AbortController();
    const second = run("true", undefined, others.signal);
    const third = run("true", undefined, others.signal);
    await assert.rejects(run("true"), (error: Refusal) => error.status === 429);

    const reason = new Error("disconnected");
    caller.abort(reason);
    await assert.rejects(first, reason);
    others.abort(reason);
    await Promise.all([second, third].map((each) => assert.rejects(each, reason)));
  });
});
