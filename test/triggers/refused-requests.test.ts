import assert from "node:assert/strict";
import { before, it } from "node:test";
import { inArray } from "drizzle-orm";
import type { H3Event } from "h3";
import { requestParts } from "../../ingress/webhooks/samples.ts";
import { hourMs } from "../../shared/durations.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { replaceTrigger } from "../../shared/triggers/create.ts";
import { openRefusalCounts } from "../../shared/triggers/deliveries/refusal-counts.ts";
import {
  listLatestRefused,
  oldRefusedRequests,
  openRefusedRequests,
  type RequestParts,
  requireRefusedRequest,
} from "../../shared/triggers/deliveries/refused-requests.ts";
import { findTrigger } from "../../shared/triggers/store.ts";
import type { RefusalCause } from "../../shared/vocabulary.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startQueuePages } from "../helpers/pages.ts";

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

const secretNames = `
  authorization proxy-authorization cookie x-auth x-auth-key x-auth-token x-api-key x-apikey api-key apikey
  private-key private-token access-token x-access-key x-secret x-webhook-secret x-shared-secret x-password
  x-pass x-pwd x-key x-code x-signature x-hub-signature-256 x-gitlab-token x-credentials x-session x-jwt
  x-sig ocp-apim-subscription-key x-functions-key x-vault-id x-custom referer origin etag
  x-forwarded-authorization x-original-url x-amz-security-token x-goog-iam idempotency-key`;
const wordsOf = (text: string) => text.trim().split(/\s+/);
const secretHeaders = Object.fromEntries(wordsOf(secretNames).map((name, at) => [name, `leak-h${at}`]));
const secretParameters = wordsOf(`
  key sig auth pass api_key code token secret password access_token apikey signature sv X-Amz-Signature jwt
  session pwd client_secret q`);
const secretQuery = [
  ...secretParameters.map((name, at) => `${name}=leak-p${at}`),
  // Without a value, perhaps with the end of Base64, or with an encoded or another separator.
  ...["leak-b0", "leakb1==", "leak-b2=", "auth%3Dleak-b3", "a;token=leak-b4", "=leak-b5"],
].join("&");
const secretBody = '{"password":"leak-1","nested":{"key":"leak-2"},"leak-3":"leak-4"}';

describeWorld("refused requests", startQueuePages, (pages) => {
  const isOn = { refusedBodiesUntil: new Date("2999-01-01") };
  const own = (id: string) => ({ id, organizationId: pages.acme.id, ...isOn });
  const latest = (id: string) => listLatestRefused(pages.services, id);
  const parts = (body?: string): RequestParts => ({
    network: "192.0.2.1",
    headers: [["X-Id", "1"]],
    query: "",
    body: body === undefined ? undefined : Buffer.from(body),
  });
  /** Each call is another process: it keeps the last of each trigger and cause in five seconds. */
  const keep = async (id: string, cause: RefusalCause, body?: string) => {
    const requests = openRefusedRequests(pages.services);
    requests.add(own(id), cause, () => parts(body));
    await requests.close();
    pages.clock.advance(1);
  };

  type TestTrigger = Awaited<ReturnType<typeof pages.acme.trigger>>;
  /** Samples are stored every five seconds: these wait together. */
  let ofGitlab: TestTrigger;
  let ofSecrets: TestTrigger;
  let withBodies: TestTrigger;
  const longBody = `{"a":"<b>${"x".repeat(5000)}"}`;
  const pathOf = ({ id }: { id: string }) => `/organizations/acme/pipelines/web/triggers/${id}`;
  const refuse = async (trigger: TestTrigger, query: string, body: string, headers = {}) => {
    const answer = await post(`${pages.url}${trigger.path}${query}`, body, headers);
    assert.equal(answer.status, 401);
  };
  const sampleOf = (trigger: TestTrigger) =>
    eventually("the request", async () => {
      const [found] = await latest(trigger.id);
      return found && requireRefusedRequest(pages.services, trigger.id, found.id);
    });
  const rowOf = async ({ id }: TestTrigger) => {
    const row = await findTrigger(pages.services.db, { pipelineId: pages.acme.pipeline.id, id });
    assert.ok(row);
    return { ...row, organizationId: pages.acme.id };
  };

  before(async () => {
    ofGitlab = await pages.acme.trigger({ type: "gitlab", secret: "s3cret" });
    ofSecrets = await pages.acme.trigger({ type: "hmac", secret: "s3cret" });
    withBodies = await pages.acme.trigger({ type: "gitlab", secret: "s3cret" });
    const member = await pages.visitor(pages.bob);
    const switched = await member.post(`${pathOf(withBodies)}/keep-refused-bodies`);
    assert.equal(switched.status, 303);
    await refuse(ofGitlab, "?page=hidden-1&access_token=hidden-2&hidden-3", '{"password":"hidden-4"}', {
      "X-Gitlab-Token": "hidden-5",
      "X-Gitlab-Event": "Push Hook",
      "X-Odd": "hidden-6",
    });
    await refuse(ofSecrets, `?${secretQuery}`, secretBody, secretHeaders);
    await refuse(withBodies, "", longBody);
  });

  it("have no more parameters read than are kept", () => {
    const event = {
      url: new URL(`http://127.0.0.1/?${"a&".repeat(512)}`),
      context: {},
      runtime: { node: { req: { rawHeaders: [] }, res: {} } },
    } as unknown as H3Event;
    const { query } = requestParts(event, "github", undefined);
    assert.ok(query.length > 1024 && query.length < 1040, `${query.length}`);
  });

  it("and their counts refresh the pages that show them", async () => {
    const { services, acme } = pages;
    const trigger = await acme.trigger();
    for (const refuse of [
      () => keep(trigger.id, "invalid_json"),
      async () => {
        const counts = openRefusalCounts(services);
        counts.count(own(trigger.id), "invalid_json");
        await counts.close();
      },
    ]) {
      let refreshed = 0;
      const end = services.events.subscribe([`trigger:${trigger.id}`], () => refreshed++);
      await eventually("the event", async () => {
        await refuse();
        return refreshed > 0;
      });
      end();
    }
  });

  it("are shown to members without their secrets, and to nobody else", async () => {
    const kept = await sampleOf(ofGitlab);
    const member = await pages.visitor(pages.bob);
    const at = pathOf(ofGitlab);
    const path = `${at}/refused/${kept.id}`;

    assert.match((await member.get(at)).text, new RegExp(`href="${path}"`));
    const { text } = await member.get(path);
    assert.doesNotMatch(text, /hidden-\d|sbtr_\w/);
    assert.match(text, /Signature wrong or missing/);
    assert.match(text, /page=redacted&amp;access_token=redacted&amp;redacted</);
    for (const shown of ["X-Gitlab-Token", "X-Odd", "Push Hook"]) assert.match(text, new RegExp(shown));
    assert.match(text, /23 bytes, not kept/);
    assert.equal((await member.get(`${pathOf(ofSecrets)}/refused/${kept.id}`)).status, 404);
    assert.equal((await member.get(`${at}/refused/x`)).status, 404);
  });

  it("keep none of the secrets in headers, queries and bodies, whatever their names are", async () => {
    const kept = await sampleOf(ofSecrets);

    assert.doesNotMatch(JSON.stringify(kept), /leak/);
    const values = new Map(kept.headers.map(([name, value]) => [name.toLowerCase(), value]));
    for (const name of Object.keys(secretHeaders)) assert.equal(values.get(name), null, name);
    for (const name of secretParameters) assert.ok(kept.query.includes(`${name}=redacted`), name);
    assert.equal(kept.query.match(/redacted/g)?.length, secretQuery.split("&").length);
    assert.equal(values.get("content-type"), "application/json");
    assert.equal(values.get("content-length"), String(secretBody.length));
    assert.deepEqual([kept.size, kept.body], [secretBody.length, null]);
  });

  it("keep their bodies after a member switches that on, for an hour", async () => {
    const kept = await sampleOf(withBodies);
    const member = await pages.visitor(pages.bob);
    const at = pathOf(withBodies);

    const { text } = await member.get(`${at}/refused/${kept.id}`);
    assert.match(text, /&lt;b>x{100}/);
    assert.match(text, /of which the first 4 KB are kept/);
    assert.match(
      (await member.get(at)).text,
      /This ends <time[^>]*>in (1 hour|\d+ minutes)<.*Keep no more bodies/s,
    );
    await member.post(`${at}/keep-refused-bodies`); // a double click

    pages.clock.advance(hourMs);
    const requests = openRefusedRequests(pages.services);
    requests.add(await rowOf(withBodies), "too_deep", () => parts("later"));
    await requests.close();

    const [later] = await latest(withBodies.id);
    const sample = await requireRefusedRequest(pages.services, withBodies.id, later?.id ?? "");
    assert.deepEqual([sample.cause, sample.body], ["too_deep", null]);
    const page = (await member.get(at)).text;
    assert.match(page, /Keep bodies for an hour/);
    assert.equal(page.match(/switched on for an hour the bodies of refused requests of/g)?.length, 1);
  });

  it("keep no more bodies once a member switches that off, or replaces the trigger", async () => {
    const trigger = await pages.acme.trigger({}, "web");
    const member = await pages.visitor(pages.bob);
    const { services, acme, actor } = pages;

    await member.post(`${pathOf(trigger)}/keep-refused-bodies`);
    assert.ok((await rowOf(trigger)).refusedBodiesUntil);
    const copy = await replaceTrigger(services, actor, acme.pipeline, await rowOf(trigger));
    assert.equal(copy.trigger.refusedBodiesUntil, null);
    await member.post(`${pathOf(copy.trigger)}/keep-refused-bodies`);
    await member.post(`${pathOf(copy.trigger)}/drop-refused-bodies`);
    const after = await findTrigger(services.db, { pipelineId: acme.pipeline.id, id: copy.trigger.id });
    assert.equal(after?.refusedBodiesUntil, null);
  });

  it("are kept from before their body was read", async () => {
    const { id } = await pages.acme.trigger();
    await keep(id, "wrong_content_type");
    const [kept] = await latest(id);
    const request = await requireRefusedRequest(pages.services, id, kept?.id ?? "");
    assert.deepEqual([request.size, request.body], [null, null]);
  });

  it("are the latest ten of each cause, and the last one in five seconds of each process", async () => {
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
    assert.deepEqual(bodies("invalid_signature"), ["second"]);
  });

  it("leave places for those of other organizations", async () => {
    const few = await setUpOrganization(pages, "few");
    const { id } = await few.trigger();
    const many = await setUpOrganization(pages, "many");
    await createPipeline(pages.services, many.operator, {
      clusterId: many.cluster.id,
      slug: "more",
      name: "More",
      steps: [{ command: "make" }],
    });
    const triggers = [];
    for (let at = 0; at < 20; at++) triggers.push(await many.trigger({}, at % 2 === 0 ? "web" : "more"));
    const requests = openRefusedRequests(pages.services);
    for (const cause of causes)
      for (const each of triggers)
        requests.add({ ...each, ...isOn, organizationId: many.id }, cause, () => parts());

    for (const cause of causes) requests.add({ id, organizationId: few.id, ...isOn }, cause, () => parts());
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
    assert.ok((await oldRefusedRequests.purge(pages.services)) >= 1);
    const { refusedRequests } = pages.services.db.tables;
    assert.deepEqual(await pages.services.db.select().from(refusedRequests), []);
  });
});
