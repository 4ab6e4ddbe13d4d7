import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { threads } from "../../../shared/sharing/resources.ts";
import {
  listLatestRefused,
  requireRefusedRequest,
} from "../../../shared/triggers/deliveries/refused-requests.ts";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { type Answer, eventually, post } from "../../helpers/http.ts";
import { startQueuePages } from "../../helpers/pages.ts";
import { signed } from "../../pipelines/provider/provider-api.ts";

const rows = Array.from({ length: 60_000 }, (_, index) => `row ${index}`);
const large = JSON.stringify({ rows });

describeWorld("large payloads", startQueuePages, (pages) => {
  it("are kept as they came, many at once", async () => {
    const { path } = await pages.acme.trigger();
    const bodies = Array.from({ length: 12 }, (_, index) => large.replace("row 0", `first ${index}`));

    const answers = await Promise.all(bodies.map((body) => post(pages.url + path, body)));

    for (const [index, { status, text, body }] of answers.entries()) {
      assert.equal(status, 201, text);
      const kept = await findPayload(pages.services.db, body.id);
      assert.equal(String(kept?.body), bodies[index]);
    }
  });

  it("are in the sample of a refusal", async () => {
    const trigger = await pages.acme.trigger();
    const member = await pages.visitor(pages.bob);
    await member.post(`/organizations/acme/pipelines/web/triggers/${trigger.id}/keep-refused-bodies`);
    const cut = large.slice(0, -1);

    const answer = await post(pages.url + trigger.path, cut);

    assert.deepEqual([answer.status, answer.body.message], [400, "Payload is not valid JSON"]);
    const sample = await eventually("the request", async () => {
      const [found] = await listLatestRefused(pages.services, trigger.id);
      return found && requireRefusedRequest(pages.services, trigger.id, found.id);
    });
    assert.equal(sample.size, cut.length);
    assert.ok(cut.startsWith(sample.body?.toString().slice(0, 4000) ?? "no body"));
  });

  it("are verified anew where their trigger changed meanwhile", async () => {
    const { services, acme } = pages;
    const trigger = await acme.trigger({ type: "github", secret: "first secret" });
    const send = () => post(pages.url + trigger.path, large, signed("first secret", large));
    assert.equal((await send()).status, 201); // it is cached now

    const renamed = await updateTrigger(services, acme.operator, trigger, { label: "Renamed" });
    assert.equal((await send()).status, 201);
    await updateTrigger(services, acme.operator, renamed, { secret: "second secret" });
    assert.equal((await send()).status, 401);
  });

  const remaining = ({ headers }: Answer) => Number(headers.get("ratelimit-remaining"));

  it("count against the limit where their client goes", async ({ mock }) => {
    const { path, organizationId } = await pages.acme.trigger();
    const before = await post(pages.url + path, "{}");
    const waiting = Promise.withResolvers<AbortSignal>();
    const { take } = threads;
    mock.method(threads, "take", async (owner: string, run: () => Promise<unknown>, signal: AbortSignal) => {
      if (owner !== organizationId) return take.call(threads, owner, run, signal);
      waiting.resolve(signal);
      await once(signal, "abort");
      throw signal.reason;
    });
    const gone = new AbortController();
    const headers = { "Content-Type": "application/json" };
    const sent = fetch(pages.url + path, { method: "POST", headers, body: large, signal: gone.signal });
    const ended = once(await waiting.promise, "abort");

    gone.abort();

    await assert.rejects(sent);
    await ended;
    const after = await post(pages.url + path, "{}");
    assert.equal(remaining(before) - remaining(after), 2);
  });

  it("do not count against the limit where their thread fails", async ({ mock }) => {
    const { path, organizationId } = await pages.acme.trigger();
    const before = await post(pages.url + path, "{}");
    const { take } = threads;
    mock.method(threads, "take", (owner: string, ...more: [() => Promise<unknown>, AbortSignal?]) =>
      owner === organizationId ? Promise.reject(new Error("It failed")) : take.call(threads, owner, ...more),
    );

    const failed = await post(pages.url + path, large);

    const after = await post(pages.url + path, "{}");
    assert.equal(failed.status, 500, failed.text);
    assert.equal(remaining(before) - remaining(after), 1);
  });
});
