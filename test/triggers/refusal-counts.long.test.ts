import assert from "node:assert/strict";
import { it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { startIngress } from "../../ingress/server.ts";
import { issueToken } from "../../shared/crypto/tokens.ts";
import { DatabaseUnavailable } from "../../shared/db/database.ts";
import {
  oldRefusalCounts,
  openRefusalCounts,
  refusalsSince,
} from "../../shared/triggers/deliveries/refusal-counts.ts";
import { listRefusalCounts } from "../../shared/triggers/deliveries/refusal-counts-store.ts";
import type { RefusalCause } from "../../shared/vocabulary.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { openAcme, setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { runSecondIngress } from "../helpers/processes.ts";

const hourMs = 3_600_000;
const causes: RefusalCause[] = [
  ...(["invalid_signature", "invalid_json", "too_large", "too_deep", "busy"] as const),
  ...(["rate_limited", "disabled", "too_slow", "wrong_encoding", "wrong_content_type"] as const),
];

const openWorld = withSettings(openAcme, { MAX_PAYLOAD_BYTES: "100", MAX_PAYLOAD_DEPTH: "5" });

describeWorldOn(sqlite, "counts of refused deliveries", openWorld, (world, database) => {
  type Trigger = Awaited<ReturnType<TestOrganization["trigger"]>>;
  const counted = async ({ id }: Trigger) => {
    const rows = await listRefusalCounts(world.services.db, id, refusalsSince(world.clock.now()));
    return Object.fromEntries(rows.map(({ cause, count }) => [cause, count]));
  };
  const total = async (trigger: Trigger) =>
    Object.values(await counted(trigger)).reduce((sum, count) => sum + count, 0);
  const open = (services = world.services) => openRefusalCounts(services);
  const noteTimes = (
    counts: ReturnType<typeof open>,
    trigger: Trigger,
    cause: RefusalCause,
    times: number,
  ) => {
    for (let at = 0; at < times; at++) counts.count(trigger, cause);
  };

  it("count each trigger's refusals by cause, and no accepted delivery", async () => {
    const small = await setUpOrganization(world, `small-${database.dialect}`, 1);
    const trigger = await world.acme.trigger({ type: "github", secret: "s" });
    const [disabled, limited] = [await world.acme.trigger({ enabled: false }), await small.trigger()];
    const send = async (to: Trigger, body: string, headers: Record<string, string> = {}) => {
      const signature = { "X-Hub-Signature-256": await sign("s", body || " ") };
      return (await post(world.url + to.path, body, { ...signature, ...headers })).status;
    };

    const statuses = [
      await send(trigger, "{}"),
      await send(trigger, "{}", { "Content-Type": "text/plain" }),
      await send(trigger, "{}", { "Content-Type": "application/x-www-form-urlencoded" }),
      await send(trigger, "{}", { "Content-Encoding": "gzip" }),
      await send(trigger, `"${"x".repeat(100)}"`),
      await send(trigger, "{}", { "X-Hub-Signature-256": "sha256=x" }),
      await send(trigger, "{}", { "X-Hub-Signature-256": "" }),
      await send(trigger, "{}", { "Idempotency-Key": "k".repeat(256) }),
      await send(trigger, "{"),
      await send(trigger, "[[[[[[]]]]]]"),
      await send(disabled, "{}"),
      await send(limited, "{}"),
      await send(limited, "{}"),
      (await post(`${world.url}/deliver/${issueToken("trigger")}`, "{}")).status,
      (await post(`${world.url}/deliver/x`, "{}")).status,
    ];
    assert.deepEqual(statuses, [201, 415, 415, 415, 413, 401, 401, 400, 400, 400, 403, 201, 429, 404, 400]);

    const sum = async () =>
      (await Promise.all([trigger, disabled, limited].map(total))).reduce((a, b) => a + b);
    await eventually("the counts", async () => (await sum()) >= 11);
    assert.deepEqual(await counted(trigger), {
      wrong_content_type: 1,
      form_content_type: 1,
      wrong_encoding: 1,
      too_large: 1,
      invalid_signature: 2,
      long_idempotency_key: 1,
      invalid_json: 1,
      too_deep: 1,
    });
    assert.deepEqual(
      [await counted(disabled), await counted(limited)],
      [{ disabled: 1 }, { rate_limited: 1 }],
    );
  });

  it("add up over two processes, and are stored when a process ends", async () => {
    const trigger = await world.acme.trigger({ enabled: false });
    const second = await runSecondIngress(world);
    const third = await startIngress(world.services);
    const urls = [world.url, second.url, third.url];

    await Promise.all(Array.from({ length: 30 }, (_, at) => post(urls[at % 3] + trigger.path, "{}")));
    await third.close();
    assert.ok((await total(trigger)) >= 10);
    await second.close();

    await eventually("the counts", async () => (await total(trigger)) === 30);
    assert.deepEqual(await counted(trigger), { disabled: 30 });
  });

  it("are exact when processes write the same counts at once", async () => {
    const [one, two] = [await world.acme.trigger(), await world.acme.trigger()];
    const other = await world.another();
    const all = [open(), open(other.services), open(), open(other.services)];

    for (let round = 0; round < 10; round++) {
      for (const [at, counts] of all.entries()) {
        noteTimes(counts, at % 2 ? one : two, "invalid_json", 3);
        noteTimes(counts, at % 2 ? two : one, "invalid_signature", 2);
      }
      await Promise.all(all.flatMap((counts) => [counts.flush(), counts.flush()]));
    }

    const expected = { invalid_json: 60, invalid_signature: 40 };
    assert.deepEqual([await counted(one), await counted(two)], [expected, expected]);
    await Promise.all(all.map((counts) => counts.close()));
  });

  it("lose nothing during a short database fault", async (t) => {
    const trigger = await world.acme.trigger();
    const counts = open();
    noteTimes(counts, trigger, "invalid_json", 2);
    const away = t.mock.method(world.services.db, "transaction", async () => {
      noteTimes(counts, trigger, "invalid_json", 3);
      throw new DatabaseUnavailable("away");
    });

    await counts.flush();
    await counts.flush();
    assert.equal(away.mock.callCount(), 2);
    away.mock.restore();
    await counts.close();

    assert.deepEqual(await counted(trigger), { invalid_json: 8 });
  });

  it("are kept by the hour for seven days, and then purged", async () => {
    world.clock.freeze();
    const trigger = await world.acme.trigger();
    const counts = open();
    const noteNow = async (times: number) => {
      noteTimes(counts, trigger, "too_large", times);
      await counts.flush();
    };
    const hours = async () => {
      const rows = await listRefusalCounts(world.services.db, trigger.id, new Date(0));
      return rows.map(({ hour, count }) => [hour.getTime() % hourMs, count]);
    };
    await noteNow(1);
    world.clock.advance(hourMs);
    await noteNow(2);
    world.clock.advance(7 * 24 * hourMs - 2 * hourMs);
    await noteNow(3);
    assert.deepEqual(await hours(), [
      [0, 3],
      [0, 2],
      [0, 1],
    ]);

    world.clock.advance(hourMs);
    await oldRefusalCounts.purge(world.services);
    assert.equal((await hours()).length, 3);
    world.clock.advance(hourMs);
    assert.ok((await oldRefusalCounts.purge(world.services)) >= 1);
    assert.deepEqual(await hours(), [
      [0, 3],
      [0, 2],
    ]);
    await counts.close();
  });

  it("of an organization that has very many leave room for those of others", async () => {
    const flooded = await world.acme.trigger();
    const victim = await (await setUpOrganization(world, `victim-${database.dialect}`)).trigger();
    const counts = open();
    const flood = (hours: number) => {
      for (let hour = 0; hour < hours; hour++) {
        for (const cause of causes) noteTimes(counts, flooded, cause, 1);
        world.clock.advance(hourMs);
      }
    };

    flood(200);
    noteTimes(counts, victim, "invalid_json", 1);
    flood(5);
    await counts.close();

    const rows = await listRefusalCounts(world.services.db, flooded.id, new Date(0));
    assert.deepEqual([rows.length, await counted(victim)], [1999, { invalid_json: 1 }]);
  });
});
