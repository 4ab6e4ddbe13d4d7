import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { eq } from "drizzle-orm";
import { updateOrganization } from "../../shared/accounts/organizations.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { openEnvironment } from "../../shared/pipelines/environment.ts";
import { readWebhookPayload } from "../../shared/triggers/payloads/payloads.ts";
import { buildOfDelivery, findDelivery } from "../helpers/builds.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";
import { runOperator, sentenceOf } from "./operator.ts";

const open = withSettings(startWorld, { MAX_PAYLOAD_BYTES: "100000" });

describeWorldOn(sqlite, "the operator's command for triggers", open, (world) => {
  let folder: string;

  before(async () => {
    await setUpOrganization(world);
    await world.startWorkers();
    folder = mkdtempSync(join(tmpdir(), "signalbox-payloads-"));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: string[], input = "", signal = AbortSignal.abort()) =>
    runOperator(world, ["trigger", ...args], {
      env: { WEBHOOK_URL: "https://hooks.example.com", MAX_PAYLOAD_BYTES: "100000" },
      input,
      untilInterrupted: () => signal,
    });
  const admin = async (...args: string[]) => {
    const { stdout, stderr, code } = await run(args);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    return JSON.parse(stdout);
  };
  const refused = async (args: string[], input = "") => sentenceOf(await run(args, input));
  const payload = (text: string | Buffer) => {
    const file = join(folder, "payload.json");
    writeFileSync(file, text);
    return ["--file", file];
  };
  const at = ["--org", "acme", "--pipeline", "web"];
  const create = (...args: string[]) => admin("create", ...at, "--label", "Made here", ...args);
  const postTo = async (endpointUrl: string, body = "{}") =>
    (await post(world.url + new URL(endpointUrl).pathname, body)).status;
  const remove = async (...ids: string[]) => {
    for (const id of ids) await admin("delete", id);
  };

  it("sends a signed delivery and builds it from exactly these bytes", async () => {
    const text = '{ "n": 9007199254740993, "n": 1 }\n';
    for (const [type, header] of [
      ["webhook", undefined],
      ["github", "X-GitHub-Delivery"],
      ["linear", "Linear-Delivery"],
    ] as const) {
      const { id } = await create("--type", type, ...(header ? ["--secret", "s3cret"] : []));

      const sent = await admin("send", id, ...payload(text));

      assert.deepEqual(Object.keys(sent), ["id"]);
      const build = await eventually("the build", () => buildOfDelivery(world, sent.id));
      assert.equal(await readWebhookPayload(world.services, build), text);
      const delivery = await findDelivery(world, sent.id);
      assert.deepEqual([delivery?.triggerId, delivery?.contentType], [id, "application/json"]);
      assert.match(String(delivery?.externalId), header ? /^[0-9a-f-]{36}$/ : /^null$/);
      await remove(id);
    }
  });

  it("sends the given event, and stores no signature", async () => {
    const { id } = await create("--type", "github", "--secret", "s3cret");

    const sent = await admin("send", id, ...payload("[]"), "--event", "release");

    const { db } = world.services;
    const { payloads } = db.tables;
    const [row] = await db.select().from(payloads).where(eq(payloads.deliveryId, sent.id));
    const headers = Object.fromEntries(row?.headers ?? []);
    assert.equal(headers["X-GitHub-Event"], "release");
    assert.equal(headers["X-Hub-Signature-256"], null);
    assert.deepEqual(
      Object.keys(headers).sort(),
      ["Content-Length", "Content-Type", "User-Agent", "X-GitHub-Delivery", "X-GitHub-Event"]
        .concat("X-Hub-Signature-256")
        .sort(),
    );
    await remove(id);
  });

  it("sends standard input", async () => {
    const { id } = await create("--type", "webhook");

    const { stdout, code } = await run(["send", id, "--file", "-"], '{"from":"a pipe"}');

    assert.equal(code, 0);
    const build = await eventually("the build", () => buildOfDelivery(world, JSON.parse(stdout).id));
    assert.equal(await readWebhookPayload(world.services, build), '{"from":"a pipe"}');
    await remove(id);
  });

  it("explains in one sentence why it cannot send", async () => {
    const { id } = await create("--type", "webhook");
    const disabled = await create("--type", "webhook", "--disabled");
    const send = (file: string[], to = id) => refused(["send", to, ...file]);
    const before = (await world.services.db.select().from(world.services.db.tables.deliveries)).length;

    assert.equal(await send(payload("{}"), disabled.id), "Pipeline trigger is disabled");
    for (const bad of ["", "{", "{}x", Buffer.from([0x22, 0xff, 0x22])])
      assert.equal(await send(payload(bad)), "Payload is not valid JSON");
    assert.equal(await send(payload("[".repeat(900))), "Payload is nested too deeply");
    assert.equal(
      await send([...payload("{}"), "--event", "x".repeat(256)]),
      "Event must be 1 to 255 characters that a header can hold",
    );
    assert.equal(await send(payload(`"${"x".repeat(99_999)}"`)), "Payload is larger than 100,000 bytes");
    const missing = join(folder, "nothing.json");
    assert.equal(await send(["--file", missing]), `${missing} cannot be read`);
    assert.equal(await send(["--file", folder]), `${folder} cannot be read`);
    assert.match(await send([]), /required option '--file/);
    assert.match(await refused(["send", "x", "--file", missing]), /It must be an id/);
    const unknown = "00000000-0000-7000-8000-000000000000";
    assert.equal(await send(payload("{}"), unknown), `No trigger "${unknown}" found`);

    const after = (await world.services.db.select().from(world.services.db.tables.deliveries)).length;
    assert.equal(after, before);
    await remove(id, disabled.id);
  });

  it("obeys the organization's limit; refused deliveries use no slot", async () => {
    const small = await setUpOrganization(world, "small", 2);
    const { id } = await small.trigger();

    for (let at = 0; at < 3; at++) await refused(["send", id, ...payload("{")]);
    await admin("send", id, ...payload("{}"));
    await admin("send", id, ...payload("{}"));

    assert.match(await refused(["send", id, ...payload("{}")]), /limit of 2 deliveries an hour/);
  });

  it("forwards deliveries with their bytes, headers and signature: older ones, then what arrives", async () => {
    const received: { body: string; headers: IncomingHttpHeaders }[] = [];
    const listener = createServer(async (request, response) => {
      received.push({ body: await text(request), headers: request.headers });
      response.writeHead(received.length === 2 ? 500 : 204).end();
    }).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/hook`;
    const { id } = await create("--type", "github", "--secret", "s3cret");
    const bodies = ['{ "n": 1 }', '{"n":2}', '{"n":3}'];
    for (const body of bodies) await admin("send", id, ...payload(body));

    const older = await run(["forward", id, url, "--last", "2", "--no-follow"]);
    const interrupt = new AbortController();
    const following = run(["forward", id, url], "", interrupt.signal);
    await eventually("what arrives while it follows", async () => {
      await admin("send", id, ...payload('{"n":4}'));
      return received.length > 2;
    });
    interrupt.abort();
    const followed = await following;

    assert.deepEqual(
      received.slice(0, 3).map(({ body }) => body),
      [...bodies.slice(1), '{"n":4}'],
    );
    for (const { body, headers } of received) {
      assert.equal(headers["x-hub-signature-256"], await sign("s3cret", body));
      assert.equal(headers["x-github-event"], "push");
    }
    assert.match(older.stdout, /"event":"push","status":204,.*\n.*"status":500,/);
    assert.match(older.stdout, /"forwarded": 1,\s+"failed": 1\s/);
    assert.equal(followed.code, 0);
    listener.close();
    await remove(id);
  });

  it("signs what it forwards as each sender does, in all headers that came", async () => {
    const key = Buffer.from("a key of Standard Webhooks").toString("base64");
    const body = '{"é":1}';
    const hmac = (secret: string | Buffer, encoding: "hex" | "base64", algorithm = "sha256", signed = body) =>
      createHmac(algorithm, secret).update(signed).digest(encoding);
    const standard = (id: string, time: string) =>
      `v1,${hmac(Buffer.from(key, "base64"), "base64", "sha256", `${id}.${time}.${body}`)}`;
    const now = String(Math.floor(world.clock.now().getTime() / 1000));
    const ofStandard = {
      "webhook-id": "1",
      "webhook-timestamp": now,
      "webhook-signature": standard("1", now),
    };
    const gitea = {
      "x-gitea-signature": hmac("s", "hex"),
      "x-hub-signature-256": `sha256=${hmac("s", "hex")}`,
    };
    const settings = { header: "X-Mine", algorithm: "sha512", encoding: "base64", prefix: "v0=" };
    const custom = Object.entries(settings).flatMap(([name, value]) => [`--signature-${name}`, value]);
    const cases: [type: string, secret: string, sent: Record<string, string>, options?: string[]][] = [
      ["gitlab", "s", { "x-gitlab-token": "s" }],
      ["gitlab", `whsec_${key}`, ofStandard],
      ["gitlab", `whsec_${key}`, { ...ofStandard, "x-gitlab-token": `whsec_${key}` }],
      ["gitlab", `whsec_${key}`, { "x-gitlab-token": `whsec_${key}` }],
      ["gitea", "s", gitea],
      ["gitea", "s", { "x-hub-signature-256": `sha256=${hmac("s", "hex")}` }],
      ["bitbucket", "s", { "x-hub-signature": `sha256=${hmac("s", "hex")}` }],
      ["hmac", "s", { "x-signature": hmac("s", "hex") }],
      ["hmac", "s", { "x-mine": `v0=${hmac("s", "base64", "sha512")}` }, custom],
    ];
    const names = new Set(cases.flatMap(([, , sent]) => Object.keys(sent)));

    for (const [type, secret, sent, options = []] of cases) {
      const received: IncomingHttpHeaders[] = [];
      const listener = createServer(async (request, response) => {
        received.push(request.headers);
        response.writeHead((await text(request)) === body ? 204 : 400).end();
      }).listen(0, "127.0.0.1");
      await once(listener, "listening");
      const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/hook`;
      const { id, endpoint_url } = await create("--type", type, "--secret", secret, ...options);
      const { status } = await post(world.url + new URL(endpoint_url).pathname, body, sent);
      assert.equal(status, 201, type);

      const begun = Date.now();
      const { stdout } = await run(["forward", id, url, "--last", "1", "--no-follow"]);

      assert.match(stdout, /"forwarded": 1/);
      const headers = received[0] ?? {};
      const expected: Record<string, unknown> = { ...sent };
      if (sent["webhook-signature"]) {
        const time = String(headers["webhook-timestamp"]);
        Object.assign(expected, { "webhook-timestamp": time, "webhook-signature": standard("1", time) });
        assert.ok(Number(time) * 1000 > begun - 1000 && Number(time) * 1000 <= Date.now(), time);
      }
      const signed = Object.fromEntries(Object.entries(headers).filter(([name]) => names.has(name)));
      assert.deepEqual(signed, expected, type);
      listener.close();
      await remove(id);
    }
  });

  it("says which delivery could not be forwarded, and refuses what is no address", async () => {
    const { id } = await create("--type", "webhook");
    await admin("send", id, ...payload("{}"));

    const { stdout } = await run(["forward", id, "http://nowhere.invalid/", "--last", "1", "--no-follow"]);

    assert.match(stdout, /"error":"E[A-Z_]+"/);
    const { deliveries } = world.services.db.tables;
    const event = "push\u009b2J\u202e";
    await world.services.db.transaction(async (tx) => {
      await tx.update(deliveries).set({ event }).where(eq(deliveries.triggerId, id));
    });
    const odd = await run(["forward", id, "http://nowhere.invalid/", "--last", "1", "--no-follow"]);
    assert.match(odd.stdout, /"event":"push\\u009b2J\\u202e"/);
    const folded = await create("--type", "gitlab", "--secret", "two\nlines");
    await admin("send", folded.id, ...payload("{}"));
    const { stdout: unsent } = await run([
      "forward",
      folded.id,
      "http://127.0.0.1:1/",
      "--last",
      "1",
      "--no-follow",
    ]);
    assert.match(unsent, /"error":"The secret cannot be sent as X-Gitlab-Token"/i);
    assert.ok(!unsent.includes("two"));
    await remove(folded.id);
    assert.match(await refused(["forward", id, "localhost:8080"]), /starts with http/);
    await remove(id);
  });

  it("disables, enables, lists and deletes", async () => {
    const { endpoint_url, ...made } = await create("--type", "webhook");
    assert.match(endpoint_url, /^https:\/\/hooks\.example\.com\/deliver\/sbtr_\w{49}$/);
    assert.deepEqual(made, { id: made.id, type: "webhook", label: "Made here", enabled: true });

    assert.deepEqual(await admin("disable", made.id), { ...made, enabled: false });
    assert.equal(await postTo(endpoint_url), 403);
    assert.deepEqual(await admin("list", ...at), { triggers: [{ ...made, enabled: false }] });
    assert.deepEqual(await admin("enable", made.id), made);
    assert.equal(await postTo(endpoint_url), 201);
    assert.deepEqual(await admin("delete", made.id), { ...made, deleted: true });
    assert.equal(await postTo(endpoint_url), 404);
    assert.deepEqual(await admin("list", ...at), { triggers: [] });
    for (const verb of ["enable", "disable", "delete", "replace"])
      assert.equal(await refused([verb, made.id]), `No trigger "${made.id}" found`);
  });

  it("replaces a trigger with a copy at a new URL, even in a full pipeline", async () => {
    const options = ["--type", "github", "--secret", "s3cret", "--env", "A=1", "--branch", "dev"];
    const old = await create(...options, "--disabled");
    const others = [];
    for (let made = 1; made < 10; made++) others.push((await create("--type", "webhook")).id);

    const { id, endpoint_url, ...rest } = await admin("replace", old.id);

    assert.notEqual(id, old.id);
    assert.notEqual(endpoint_url, old.endpoint_url);
    assert.deepEqual(rest, { type: "github", label: "Made here", enabled: false });
    assert.equal(await postTo(old.endpoint_url), 404);
    assert.equal(await postTo(endpoint_url), 403);
    await admin("enable", id);
    assert.equal(await postTo(endpoint_url), 401, "the signing secret is the same");
    const sent = await admin("send", id, ...payload("{}"));
    const build = await eventually("the build", () => buildOfDelivery(world, sent.id));
    const variables = openEnvironment(
      world.services.cipher,
      build.environmentSealed,
      sealedPlaces.variablesOfBuilds,
    );
    assert.deepEqual([build.branch, variables], ["dev", { A: "1" }]);
    await remove(id, ...others);
  });

  it("creates a filter if the organization has the feature", async () => {
    const filter = ["--filter", "webhook.payload.a == 1"];
    const hook = ["create", ...at, "--label", "x", "--type", "webhook", ...filter];
    assert.match(await refused(hook), /Filters are not available to this organization/);

    await updateOrganization(world.services, "acme", { features: { webhook_filtering: true } });
    const { id } = await create("--type", "webhook", ...filter);

    const { triggers } = world.services.db.tables;
    const [row] = await world.services.db.select().from(triggers).where(eq(triggers.id, id));
    assert.equal(row?.filter, "webhook.payload.a == 1");
    const sent = await admin("send", id, ...payload('{"a":1}'));
    await eventually("the build", () => buildOfDelivery(world, sent.id));
    await remove(id);
  });
});
