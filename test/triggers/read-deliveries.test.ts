import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { evictPayloads } from "../../shared/triggers/payloads/payloads.ts";
import { base, timestamp, unknownId } from "../helpers/api.ts";
import { buildOfDelivery } from "../helpers/builds.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

const settings = { PAYLOAD_RETENTION_DAYS: "7" };

describeWorldOn(sqlite, "…/triggers/{id}/deliveries", withSettings(openTriggerApi, settings), (api) => {
  const fresh = async (body: object = {}) => {
    const { slug } = await api.newPipeline();
    const made = await api.newTrigger(body, slug);
    return { ...made, path: `${api.triggersAt(slug)}/${made.id}`, slug };
  };
  type Fresh = Awaited<ReturnType<typeof fresh>>;
  const read = async ({ path }: Pick<Fresh, "path">, id: string, more = "") => {
    const answer = await api.send("GET", `${path}/deliveries/${id}${more}`);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const listed = async ({ path }: Fresh) => (await api.send("GET", `${path}/deliveries`)).body.items;
  const outcome = async (trigger: Fresh, id: string) => {
    const { status, reason, builds } = (await read(trigger, id)).body;
    return { status, reason, builds: builds.length };
  };

  describe("a delivery", () => {
    it("has only null results while pending, then its build", async () => {
      const trigger = await fresh();
      const id = await api.deliver(trigger, "{}", { "Content-Type": "application/json; charset=utf-8" });

      const { body: waiting } = await read(trigger, id);
      const url = `${base}/pipelines/${trigger.slug}/triggers/${trigger.id}/deliveries/${id}`;
      assert.match(waiting.received_at, timestamp);
      assert.deepEqual(waiting, {
        id,
        url,
        request_url: `${url}/request`,
        received_at: waiting.received_at,
        content_type: "application/json; charset=utf-8",
        external_id: null,
        status: null,
        reason: null,
        builds: [],
      });
      assert.deepEqual(await listed(trigger), [waiting]);

      await api.work(id);
      const build = await buildOfDelivery(api.world, id);
      const { body: built } = await read(trigger, id);
      const at = `/pipelines/${trigger.slug}/builds/1`;
      const builds = [{ id: build?.id, number: 1, url: base + at }];
      assert.deepEqual(built, { ...waiting, status: "build_created", builds });
      assert.deepEqual(await listed(trigger), [built]);
      assert.equal((await api.send("GET", at)).body.id, build?.id);
    });

    it("has the sender's own id if the sender gives one", async () => {
      const headers = { "X-GitHub-Delivery": "gh-1", "Linear-Delivery": "li-1" };
      const expected = { webhook: null, github: "gh-1", linear: "li-1" };
      for (const [type, externalId] of Object.entries(expected)) {
        const trigger = await fresh({ type });
        const [named, unnamed] = [await api.deliver(trigger, "{}", headers), await api.deliver(trigger)];
        assert.equal((await read(trigger, named)).body.external_id, externalId);
        assert.equal((await read(trigger, unnamed)).body.external_id, null);
      }
    });

    it("fails permanently if its pipeline cannot be built", async () => {
      const trigger = await fresh();
      const id = await api.deliver(trigger);
      await api.world.services.db.transaction(async (tx) => {
        const { pipelines } = tx.tables;
        const steps = [{ command: "x", agents: { queue: "gone" } }];
        await tx.update(pipelines).set({ steps }).where(eq(pipelines.slug, trigger.slug));
      });

      await api.work(id);

      const failed = { status: "failed", reason: "build_creation_failed", builds: 0 };
      assert.deepEqual(await outcome(trigger, id), failed);
    });

    it("is not run if the filter is false or fails", async () => {
      await api.features({ webhook_filtering: true });
      const trigger = await fresh({ filter: { expression: "webhook.payload.a == 1" } });
      const ids: string[] = [];
      for (const body of ['{"a":1}', '{"a":2}', '{"b":1}']) ids.push(await api.deliver(trigger, body));

      await api.work(...ids);

      const outcomes = [];
      for (const id of ids) outcomes.push(await outcome(trigger, id));
      assert.deepEqual(outcomes, [
        { status: "build_created", reason: null, builds: 1 },
        { status: "not_run", reason: "filter_mismatch", builds: 0 },
        { status: "not_run", reason: "filter_evaluation_failed", builds: 0 },
      ]);
    });

    it("is filtered by the trigger's filter at the time of the build", async () => {
      await api.features({ webhook_filtering: true });
      const trigger = await fresh({ filter: { expression: "webhook.payload.a == 1" } });
      const id = await api.deliver(trigger, '{"a":2}');

      await api.send("PATCH", trigger.path, { body: { filter: null } });
      await api.work(id);

      assert.deepEqual(await outcome(trigger, id), { status: "build_created", reason: null, builds: 1 });
    });

    it("is found only at its own trigger", async () => {
      const [trigger, other] = [await fresh(), await fresh()];
      const id = await api.deliver(trigger);

      for (const more of ["", "/request"]) {
        for (const path of [
          `${other.path}/deliveries/${id}${more}`,
          `${trigger.path}/deliveries/${unknownId}${more}`,
          `${trigger.path}/deliveries/x${more}`,
        ]) {
          const { status, body } = await api.send("GET", path);
          assert.deepEqual([status, body], [404, { message: "No delivery found" }], path);
        }
      }
      const rebuilt = await api.send("POST", `${other.path}/deliveries/${id}/rebuild`);
      assert.deepEqual([rebuilt.status, rebuilt.body], [404, { message: "No delivery found" }]);
      assert.deepEqual(await listed(other), []);
      const gone = await api.send("GET", `${api.triggersAt()}/${trigger.id}/deliveries/${id}`);
      assert.deepEqual([gone.status, gone.body], [404, { message: "No pipeline trigger found" }]);
    });
  });

  describe("its request", () => {
    const secrets = {
      Authorization: "Bearer top-secret-1",
      "Proxy-Authorization": "Basic top-secret-2",
      Cookie: "session=top-secret-3",
      "X-Hub-Signature": "sha1=top-secret-4",
      "X-Hub-Signature-256": "sha256=top-secret-5",
      "Linear-Signature": "top-secret-6",
      "X-Gitlab-Token": "top-secret-7",
      "X-Api-Key": "top-secret-8",
    };
    const sent = {
      ...secrets,
      "X-GitHub-Event": "push",
      "X-GitHub-Delivery": "gh-2",
      "X-GitHub-Hook-ID": "42",
      "Linear-Event": "Issue",
      "Linear-Delivery": "li-2",
      "User-Agent": "Sender/1",
    };
    const requestOf = async (trigger: Fresh, id: string) => (await read(trigger, id, "/request")).body;
    const shown = (headers: { name: string; value: string | null; redacted: boolean }[]) =>
      headers
        .filter(({ value }) => value !== null)
        .map(({ name, value }) => `${name.toLowerCase()}: ${value}`);

    it("names every header, and shows only the values of event and delivery id", async () => {
      const expected = {
        webhook: [],
        github: ["x-github-event: push", "x-github-delivery: gh-2"],
        linear: ["linear-event: Issue", "linear-delivery: li-2"],
      };
      for (const [type, values] of Object.entries(expected)) {
        const trigger = await fresh({ type });
        const id = await api.deliver(trigger, "{}", sent);

        const { headers, ...rest } = await requestOf(trigger, id);

        assert.deepEqual(shown(headers).sort(), values.sort());
        assert.deepEqual(rest, { content_type: "application/json", payload: {} });
        const names = headers.map(({ name }: { name: string }) => name.toLowerCase());
        for (const name of [...Object.keys(sent), "Content-Type"])
          assert.ok(names.includes(name.toLowerCase()), name);
        for (const header of headers) {
          assert.deepEqual(Object.keys(header), ["name", "value", "redacted"]);
          assert.equal(header.redacted, header.value === null);
        }
      }
    });

    it("shows and stores no credentials", async () => {
      const trigger = await fresh({ type: "github" });
      const id = await api.deliver(trigger, "{}", sent);

      const { text } = await read(trigger, id, "/request");
      assert.doesNotMatch(text, /top-secret/);
      const { db } = api.world.services;
      const { payloads } = db.tables;
      const [row] = await db.select().from(payloads).where(eq(payloads.deliveryId, id));
      const stored = new Map(row?.headers.map(([name, value]) => [name.toLowerCase(), value]));
      for (const name of Object.keys(secrets)) assert.equal(stored.get(name.toLowerCase()), null, name);
      assert.equal(stored.get("x-github-hook-id"), "42");
      assert.doesNotMatch(JSON.stringify([...stored]), /top-secret/);
    });

    it("has the payload byte for byte: big numbers, repeated keys, their order, escapes and spaces", async () => {
      const trigger = await fresh();
      const payloads = [
        '{"z":1, "a":9007199254740993,"a":1e400,\t"b":-0.0 ,"1":"\\u0041\\ud83d\\ude00\\ud800","é":"😀\u2028"}',
        "  [1.00, 2.50]\n",
        "123456789012345678901234567890",
        '"payload\\":null}"',
        "null",
        '{"__proto__":{"x":1},"headers":[]}',
      ];
      for (const payload of payloads) {
        const id = await api.deliver(trigger, payload);
        const { text, body } = await read(trigger, id, "/request");
        assert.ok(text.endsWith(`,"payload":${payload}}`), text);
        assert.deepEqual(Object.keys(body), ["content_type", "headers", "payload"]);
      }
    });

    it("is not cacheable", async () => {
      const trigger = await fresh();
      const { headers } = await read(trigger, await api.deliver(trigger), "/request");

      assert.equal(headers.get("cache-control"), "private, no-store");
      assert.equal(headers.get("content-type"), "application/json;charset=UTF-8");
    });

    it("has no payload or headers once evicted; the delivery does not change", async () => {
      const trigger = await fresh({ type: "github" });
      const id = await api.deliver(trigger, '{"a":1}', sent);
      await api.work(id);
      const { body: before } = await read(trigger, id);
      api.world.clock.advance(8 * 86_400_000);
      await evictPayloads(api.world.services);

      const evicted = { content_type: "application/json", headers: [], payload: null };
      assert.deepEqual(await requestOf(trigger, id), evicted);
      assert.deepEqual((await read(trigger, id)).body, before);
    });
  });
});
