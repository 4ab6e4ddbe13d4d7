import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Actor } from "../../../shared/accounts/audit.ts";
import { updateOrganization } from "../../../shared/accounts/organizations.ts";
import type { DueWork } from "../../../shared/tasks/looks.ts";
import { openDueDeliveries } from "../../../shared/triggers/deliveries/due.ts";
import type { ThreadInput } from "../../../shared/triggers/filter/evaluate.ts";
import type { Evaluation } from "../../../shared/triggers/filter/evaluator.ts";
import { findFilterMisses } from "../../../shared/triggers/filter/misses-store.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { findDelivery } from "../../helpers/builds.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { post } from "../../helpers/http.ts";
import { openAcme } from "../../helpers/organization.ts";

const late: Evaluation = { outcome: { error: "too late" }, isLate: true };
const inTime: Evaluation = { outcome: { verdict: true }, isLate: false };
const [second, minute] = [1000, 60_000];

describeWorld("a filter that keeps missing its deadline", openAcme, (world) => {
  let actor: Actor;
  let evaluations: string[];
  let answer: Evaluation;
  const workers: DueWork[] = [];

  before(async () => {
    world.clock.freeze();
    const features = { webhook_filtering: true };
    const organization = await updateOrganization(world.services, "acme", { features });
    actor = { ...world.acme.operator, organization };
  });
  after(async () => {
    for (const worker of workers) await worker.close();
  });

  /** Opens a worker of its own. */
  const openWorker = () => {
    const worker = openDueDeliveries(world.services, async ([input]: ThreadInput[]) => {
      evaluations.push(input?.id ?? "");
      return [answer];
    });
    workers.push(worker);
    return worker;
  };
  const work = async (worker: DueWork) => {
    worker.wake();
    await worker.idle();
  };
  const setUp = async (count: number) => {
    evaluations = [];
    answer = late;
    const trigger = await world.acme.trigger({ filter: "webhook.payload.a == 1" });
    const answers = await Promise.all(
      Array.from({ length: count }, () => post(world.url + trigger.path, '{"a":1}')),
    );
    const ids = answers.map(({ body }) => body.id as string).sort();
    return { trigger, ids };
  };
  const statuses = (ids: string[]) =>
    Promise.all(ids.map(async (id) => (await findDelivery(world, id))?.status ?? null));
  const misses = async (trigger: { id: string; filter: string | null }) =>
    (await findFilterMisses(world.services.db, trigger))?.count;

  it("backs off after three misses: its deliveries wait, one tries after 10 s, then after 20 s", async () => {
    const { trigger, ids } = await setUp(8);
    const worker = openWorker();

    await work(worker);
    assert.deepEqual(evaluations, ids.slice(0, 3));
    assert.deepEqual(await statuses(ids), ["not_run", "not_run", "not_run", null, null, null, null, null]);

    for (const [seconds, total] of [
      [5, 3],
      [6, 4],
      [10, 4],
      [11, 5],
    ] as const) {
      world.clock.advance(seconds * second);
      await work(worker);
      assert.equal(evaluations.length, total);
    }
    assert.equal(await misses(trigger), 5);
  });

  it("is tried by one of two workers", async () => {
    await setUp(6);
    const [one, two] = [openWorker(), openWorker()];
    await work(one);
    world.clock.advance(11 * second);

    await Promise.all([work(one), work(two)]);

    assert.equal(evaluations.length, 4);
  });

  it("goes on after an evaluation in time", async () => {
    const { trigger, ids } = await setUp(6);
    const worker = openWorker();
    await work(worker);
    world.clock.advance(11 * second);
    answer = inTime;

    await work(worker);

    assert.deepEqual((await statuses(ids)).slice(3), ["build_created", "build_created", "build_created"]);
    assert.equal(await misses(trigger), undefined);
  });

  it("goes on with another filter", async () => {
    const { trigger, ids } = await setUp(5);
    const worker = openWorker();
    await work(worker);
    answer = inTime;
    await updateTrigger(world.services, actor, trigger, { filter: "webhook.payload.a == 2" });

    world.clock.advance(minute);
    await work(worker);

    assert.deepEqual((await statuses(ids)).slice(3), ["build_created", "build_created"]);
  });

  it("lets its deliveries wait, and decides those that waited for an hour", async () => {
    const { ids } = await setUp(5);
    const worker = openWorker();
    await work(worker);
    assert.deepEqual((await statuses(ids)).slice(3), [null, null]);
    world.clock.advance(61 * minute);

    await work(worker);

    assert.equal(evaluations.length, 4);
    assert.deepEqual((await statuses(ids)).slice(3), ["not_run", "not_run"]);
  });
});
