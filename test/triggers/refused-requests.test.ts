import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { inArray } from "drizzle-orm";
import { hourMs } from "../../shared/durations.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import {
  listLatestRefused,
  openRefusedRequests,
  purgeRefusedRequests,
  type RequestParts,
  requireRefusedRequest,
} from "../../shared/triggers/deliveries/refused-requests.ts";
import type { RefusalCause } from "../../shared/vocabulary.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { type QueuePages, startQueuePages } from "../helpers/pages.ts";

const causes: RefusalCause[] = [
  "wrong_content_type",
  "form_content_type",
  "wrong_encoding",
  "too_large",
  "too_slow",
  "too_many_uploads",
  "invalid_signature",
  "invalid_json",
  "rate_limited",
  "too_deep",
  "busy",
];

describeOnBothDatabases("refused requests", (database) => {
  let pages: QueuePages;
  before(async () => {
    pages = await startQueuePages(database);
  });
  after(() => pages.close());

  const own = (id: string) => ({ id, organizationId: pages.acme.id });
  const latest = (id: string) => listLatestRefused(pages.services, id);
  const parts = (body?: string): RequestParts => ({
    ...{ network: "192.0.2.1", headers: [["X-Id", "1"]], query: "" },
    body: body === undefined ? undefined : Buffer.from(body),
  });
  /** Each call is another process: it keeps one of each trigger and cause in five seconds. */
  const keep = async (id: string, cause: RefusalCause, body?: string) => {
    const requests = openRefusedRequests(pages.services);
    requests.add(own(id), cause, () => parts(body));
    await requests.close();
    pages.clock.advance(1);
  };

  it("are shown to members without their secrets, and to nobody else", async () => {
    const trigger = await pages.acme.trigger({ type: "gitlab", secret: "s3cret" });
    const body = `{"a":"<b>${"x".repeat(5000)}"}`;
    const answer = await post(`${pages.url}${trigger.path}?page=1&access_token=hidden-1`, body, {
      "X-Gitlab-Token": "hidden-2",
      Authorization: "hidden-3",
      Cookie: "session=hidden-4",
      "webhook-signature": "v1,shown",
      "X-Gitlab-Event": "Push Hook",
    });
    assert.equal(answer.status, 401);
    const member = await pages.visitor(pages.bob);
    const at = `/organizations/acme/pipelines/web/triggers/${trigger.id}`;

    const [kept] = await eventually("the request", async () => {
      const found = await latest(trigger.id);
      return found.length > 0 && found;
    });

    assert.ok(kept);
    const path = `${at}/refused/${kept.id}`;
    assert.match((await member.get(at)).text, new RegExp(`href="${path}"`));
    const { text } = await member.get(path);
    assert.doesNotMatch(text, /hidden-\d|sbtr_\w/);
    assert.match(text, /Signature wrong or missing/);
    assert.match(text, /page=1&amp;access_token=redacted/);
    assert.match(text, /v1,shown/);
    assert.match(text, /Push Hook/);
    assert.match(text, /&lt;b>x{100}/);
    assert.match(text, /of which the first 4 KB are kept/);
    const other = await pages.acme.trigger();
    assert.equal((await member.get(`${at.replace(trigger.id, other.id)}/refused/${kept.id}`)).status, 404);
    assert.equal((await member.get(`${at}/refused/x`)).status, 404);
  });

  it("are kept from before their body was read", async () => {
    const { id } = await pages.acme.trigger();
    await keep(id, "wrong_content_type");
    const [kept] = await latest(id);
    const request = await requireRefusedRequest(pages.services, id, kept?.id ?? "");
    assert.deepEqual([request.size, request.body], [null, null]);
  });

  it("are the latest ten of each cause, one of which each process keeps in five seconds", async () => {
    const { id } = await pages.acme.trigger();
    for (let at = 0; at < 12; at++) await keep(id, "invalid_json", String(at));
    await keep(id, "too_deep");
    const requests = openRefusedRequests(pages.services);
    for (const body of ["first", "second"]) requests.add(own(id), "invalid_signature", () => parts(body));
    await requests.close();

    const kept = await Promise.all(
      (await latest(id)).map((each) => requireRefusedRequest(pages.services, id, each.id)),
    );

    const bodies = (cause: RefusalCause) =>
      kept.filter((each) => each.cause === cause).map(({ body }) => body?.toString());
    assert.deepEqual(bodies("invalid_json"), ["11", "10", "9", "8", "7", "6", "5", "4", "3", "2"]);
    assert.deepEqual(bodies("too_deep").length, 1);
    assert.deepEqual(bodies("invalid_signature"), ["first"]);
  });

  it("leave places for those of other organizations", async () => {
    const few = await setUpOrganization(pages, "few");
    const { id } = await few.trigger();
    const many = await setUpOrganization(pages, "many");
    await createPipeline(pages.services, many.operator, {
      ...{ clusterId: many.cluster.id, slug: "more", name: "More", steps: [{ command: "make" }] },
    });
    const triggers = [];
    for (let at = 0; at < 20; at++) triggers.push(await many.trigger({}, at % 2 === 0 ? "web" : "more"));
    const requests = openRefusedRequests(pages.services);
    for (const cause of causes)
      for (const each of triggers) requests.add({ ...each, organizationId: many.id }, cause, () => parts());

    for (const cause of causes) requests.add({ id, organizationId: few.id }, cause, () => parts());
    await requests.close();

    assert.equal((await latest(id)).length, causes.length);
    const { refusedRequests } = pages.services.db.tables;
    const ofMany = inArray(
      refusedRequests.triggerId,
      triggers.map((each) => each.id),
    );
    const stored = await pages.services.db.select().from(refusedRequests).where(ofMany);
    assert.equal(stored.length, 200 - causes.length);
  });

  it("have bounded headers", async () => {
    const { id } = await pages.acme.trigger();
    const requests = openRefusedRequests(pages.services);
    const headers: [string, string][] = [
      ["X-Long", "x".repeat(4000)],
      ["X-More", "y".repeat(4000)],
      ["X-Lost", ""],
    ];
    requests.add(own(id), "busy", () => ({ ...parts(), headers }));
    await requests.close();
    const [kept] = await latest(id);
    const stored = (await requireRefusedRequest(pages.services, id, kept?.id ?? "")).headers;
    assert.deepEqual(stored, [
      ["X-Long", "x".repeat(4000)],
      ["X-More", "y".repeat(4096 - 4012)],
    ]);
  });

  it("are neither kept nor read when the setting is 0", async () => {
    const { id } = await pages.acme.trigger();
    const config = { ...pages.services.config, refusedRequestHours: 0 };
    const requests = openRefusedRequests({ ...pages.services, config });
    requests.add(own(id), "busy", () => assert.fail("it is read"));
    await requests.close();
    assert.deepEqual(await latest(id), []);
  });

  it("are purged after a day, and not shown from then on", async () => {
    const { id } = await pages.acme.trigger();
    await keep(id, "busy");
    const [kept] = await latest(id);
    pages.clock.advance(24 * hourMs + 1);

    assert.deepEqual(await latest(id), []);
    await assert.rejects(requireRefusedRequest(pages.services, id, kept?.id ?? ""), { status: 404 });
    assert.ok((await purgeRefusedRequests(pages.services)) >= 1);
    const { refusedRequests } = pages.services.db.tables;
    assert.deepEqual(await pages.services.db.select().from(refusedRequests), []);
  });
});
