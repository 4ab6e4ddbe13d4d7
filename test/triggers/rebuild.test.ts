import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { issueReadingToken } from "../../shared/builds/meta-data/meta-data.ts";
import { evictPayloads } from "../../shared/triggers/payloads/payloads.ts";
import type { Step } from "../../shared/vocabulary.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { addPerson } from "../helpers/organization.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

interface Built {
  id: string;
  number: number;
}

const settings = { PAYLOAD_RETENTION_DAYS: "7" };

describeWorldOn(sqlite, "POST …/deliveries/{id}/rebuild", withSettings(openTriggerApi, settings), (api) => {
  const fresh = async (body: object = {}) => {
    const { slug } = await api.newPipeline();
    const made = await api.newTrigger(body, slug);
    return { ...made, path: `${api.triggersAt(slug)}/${made.id}`, slug };
  };
  type Fresh = Awaited<ReturnType<typeof fresh>>;
  const built = async (trigger: Fresh, body?: string) => {
    const id = await api.deliver(trigger, body);
    await api.work(id);
    return { id, path: `${trigger.path}/deliveries/${id}` };
  };
  const rebuild = async ({ path }: { path: string }): Promise<{ builds: Built[] }> => {
    const answer = await api.send("POST", `${path}/rebuild`);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual((await api.send("GET", path)).body, answer.body);
    return answer.body;
  };
  const refused = async ({ path }: { path: string }, message: string) => {
    const { status, body } = await api.send("POST", `${path}/rebuild`);
    assert.deepEqual([status, body], [422, { message }]);
  };
  const numbers = ({ builds }: { builds: Built[] }) => builds.map(({ number }) => number);
  const setSteps = (slug: string, steps: Step[]) =>
    api.world.services.db.transaction(async (tx) => {
      await tx.update(tx.tables.pipelines).set({ steps }).where(eq(tx.tables.pipelines.slug, slug));
    });
  /** Reads the payload as a step does. */
  const payloadOf = async ({ id }: Built) => {
    const { services, url } = api.world;
    const { jobs } = services.db.tables;
    const [job] = await services.db.select().from(jobs).where(eq(jobs.buildId, id));
    assert.ok(job);
    const answer = await request(`${url}/v3/jobs/${job.id}/data/get`, {
      method: "POST",
      headers: {
        Authorization: `Token ${await issueReadingToken(services, job)}`,
        "Content-Type": "application/json",
      },
      body: '{"key":"service:webhook"}',
    });
    return answer.body.value;
  };

  it("creates another build with the same payload", async () => {
    const trigger = await fresh();
    const payload = '{ "a": 9007199254740993 }';
    const delivery = await built(trigger, payload);
    const { body: before } = await api.send("GET", delivery.path);

    const after = await rebuild(delivery);

    assert.deepEqual({ ...after, builds: after.builds.slice(0, 1) }, before);
    assert.deepEqual(numbers(after), [1, 2]);
    for (const build of after.builds) assert.equal(await payloadOf(build), payload);
  });

  it("builds as the caller, with the trigger's present settings, enabled or not", async () => {
    const trigger = await fresh({ build: { branch: "old", environment: { A: "1" } } });
    const delivery = await built(trigger);
    const changed = { enabled: false, build: { branch: "new", message: "Again", environment: { B: "2" } } };
    await api.send("PATCH", trigger.path, { body: changed });
    const member = await addPerson(api.world, api.acme);
    const token = await api.tokenOf(member, ["write_builds"]);

    const { status } = await api.send("POST", `${delivery.path}/rebuild`, { token });

    const { body: first } = await api.send("GET", `/pipelines/${trigger.slug}/builds/1`);
    const { body: second } = await api.send("GET", `/pipelines/${trigger.slug}/builds/2`);
    assert.equal(status, 201);
    assert.deepEqual([first.creator, first.branch, first.env.A], [null, "old", "1"]);
    assert.deepEqual(
      [second.creator?.id, second.branch, second.message, second.env.A, second.env.B],
      [member.id, "new", "Again", undefined, "2"],
    );
    assert.deepEqual([second.source, second.state, second.jobs.length], ["webhook", "scheduled", 1]);
    assert.equal(second.env.SIGNALBOX_BUILD_NUMBER, "2");
  });

  it("numbers simultaneous rebuilds and webhooks without gaps", async () => {
    const other = await api.world.another();
    const trigger = await fresh();
    const delivery = await built(trigger);

    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        if (at % 4 === 0) await built(trigger);
        return api.send("POST", `${delivery.path}/rebuild`, { url: at % 2 ? other.url : api.world.url });
      }),
    );

    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
    const { body: all } = await api.send("GET", `/pipelines/${trigger.slug}/builds?per_page=100`);
    assert.deepEqual(
      numbers({ builds: all }),
      Array.from({ length: 16 }, (_, at) => 16 - at),
    );
    assert.equal((await api.send("GET", delivery.path)).body.builds.length, 13);
  });

  it("creates no second build when the background job runs again", async () => {
    const trigger = await fresh();
    const delivery = await built(trigger);
    await rebuild(delivery);

    await api.work(delivery.id, delivery.id);
    await api.work(delivery.id);

    assert.deepEqual(numbers((await api.send("GET", delivery.path)).body), [1, 2]);
    assert.deepEqual(numbers(await rebuild(delivery)), [1, 2, 3]);
  });

  it("builds a delivery that a filter left out", async () => {
    await api.features({ webhook_filtering: true });
    const trigger = await fresh({ filter: { expression: "webhook.payload.a == 1" } });
    const delivery = await built(trigger, '{"a":2}');
    const { body: before } = await api.send("GET", delivery.path);
    assert.deepEqual([before.status, before.builds], ["not_run", []]);

    assert.deepEqual(numbers(await rebuild(delivery)), [1]);
  });

  it("refuses a failed delivery and uses no number until its pipeline can be built", async () => {
    const trigger = await fresh();
    await setSteps(trigger.slug, [{ command: "make", agents: { queue: "gone" } }]);
    const delivery = await built(trigger);
    assert.equal((await api.send("GET", delivery.path)).body.status, "failed");

    await refused(delivery, "The pipeline cannot build: a step has no queue to run on");
    await setSteps(trigger.slug, [{ command: "make" }]);

    assert.deepEqual(numbers(await rebuild(delivery)), [1]);
  });

  it("refuses a pending delivery", async () => {
    const trigger = await fresh();
    const id = await api.deliver(trigger);

    await refused({ path: `${trigger.path}/deliveries/${id}` }, "The delivery is still being processed");

    await api.work(id);
    assert.deepEqual(numbers((await api.send("GET", `${trigger.path}/deliveries/${id}`)).body), [1]);
  });

  it("refuses a delivery with an evicted payload", async () => {
    const trigger = await fresh();
    const delivery = await built(trigger);
    api.world.clock.advance(8 * 86_400_000);
    await evictPayloads(api.world.services);

    await refused(delivery, "The payload of this delivery is no longer kept");

    assert.deepEqual(numbers((await api.send("GET", delivery.path)).body), [1]);
  });
});
