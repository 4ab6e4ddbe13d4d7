import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { before, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { updateOrganization } from "../../../shared/accounts/organizations.ts";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import { deleteTrigger, updateTrigger } from "../../../shared/triggers/triggers.ts";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import { type Answer, post, request, untilNotBusy } from "../../helpers/http.ts";
import { openAcme, setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { countedByRedis } from "../../redis/counted-by-redis.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function hmac(secret: string, body: string | Buffer): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

const settings = { MAX_PAYLOAD_BYTES: "100000", MAX_PAYLOAD_DEPTH: "20" };

describeWorld("POST /deliver/:token", withSettings(openAcme, settings), (world, database) => {
  let trigger: Awaited<ReturnType<TestOrganization["trigger"]>>;

  before(async () => {
    trigger = await world.acme.trigger();
  });

  const send = (body: string | Buffer<ArrayBuffer>, headers?: Record<string, string>, path = trigger.path) =>
    post(world.url + path, body, headers);
  const countDeliveries = async () =>
    (await world.services.db.select().from(world.services.db.tables.deliveries)).length;

  /** Also expects that no delivery was stored. */
  async function assertRefused(answering: Promise<Answer>, status: number, message: string): Promise<Answer> {
    const before = await countDeliveries();
    const answer = await answering;
    assert.equal(answer.status, status, answer.text);
    assert.deepEqual(answer.body, { message });
    assert.ok(answer.headers.get("x-request-id"));
    assert.equal(await countDeliveries(), before);
    return answer;
  }

  describe("201", () => {
    it("answers the delivery's id, and keeps exactly the received bytes", async () => {
      const body = '{"b":1, "a":9007199254740993,"a":"\\u0041\\ud83d\\ude00" }';

      const answer = await send(body);

      assert.equal(answer.status, 201);
      assert.deepEqual(Object.keys(answer.body), ["id"]);
      assert.match(answer.body.id, uuid);
      const { db } = world.services;
      const kept = (await db.select().from(db.tables.payloads)).find(
        (row) => row.deliveryId === answer.body.id,
      );
      assert.equal(kept?.body.toString("utf8"), body);
    });

    it("carries the organization's limit in headers", async () => {
      const { headers } = await send("{}");

      assert.equal(headers.get("ratelimit-limit"), "1000000");
      assert.match(headers.get("ratelimit-remaining") ?? "", /^9999\d\d$/);
      assert.ok(Number(headers.get("ratelimit-reset")) <= 3600);
      assert.equal(headers.get("ratelimit-scope"), "deliveries");
      assert.equal(headers.get("ratelimit-policy"), '"deliveries";q=1000000;w=3600');
      assert.match(headers.get("ratelimit") ?? "", /^"deliveries";r=9999\d\d;t=\d+$/);
    });

    it("accepts any JSON value, and a charset of utf-8", async () => {
      for (const body of ["[]", '"text"', "0", "null", " true\n", '{"é":"😀"}']) {
        assert.equal(
          (await send(body, { "Content-Type": "application/json; charset=UTF-8" })).status,
          201,
          body,
        );
      }
    });

    it("ignores the query string", async () => {
      assert.equal((await send("{}", {}, `${trigger.path}?a=%00`)).status, 201);
    });

    it("echoes a valid X-Request-Id and replaces any other", async () => {
      assert.equal((await send("{}", { "X-Request-Id": "abc-1" })).headers.get("x-request-id"), "abc-1");
      assert.match(
        (await send("{}", { "X-Request-Id": "a b<" })).headers.get("x-request-id") ?? "",
        /^[0-9a-f-]{36}$/,
      );
    });

    it("accepts a body that arrives byte by byte", async () => {
      const body = JSON.stringify("x".repeat(5000));
      const socket = connect(Number(new URL(world.url).port), "127.0.0.1");
      socket.write(
        `POST ${trigger.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      socket.write(`${[...body].map((byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`);
      const [answer] = await once(socket, "data");
      socket.destroy();

      const id = /"id":"([^"]+)"/.exec(String(answer))?.[1];
      const kept = await findPayload(world.services.db, id ?? "");
      assert.equal(kept?.body.toString(), body);
    });

    it("accepts a chunked body", async () => {
      const answer = await request(world.url + trigger.path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: new Blob(['{"chunked":', "true}"]).stream(),
        duplex: "half",
      } as RequestInit);
      assert.equal(answer.status, 201);
    });
  });

  describe("405", () => {
    it("answers any other method with Allow: POST", async () => {
      for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const answer = await assertRefused(
          request(world.url + trigger.path, { method }),
          405,
          "Deliveries are sent with POST",
        );
        assert.equal(answer.headers.get("allow"), "POST");
      }
      assert.equal((await fetch(world.url + trigger.path, { method: "HEAD" })).status, 405);
    });
  });

  describe("400 Invalid pipeline trigger token", () => {
    const flip = (token: string, at: number) =>
      token.slice(0, at) + (token[at] === "a" ? "b" : "a") + token.slice(at + 1);

    it("refuses a malformed token", async () => {
      const { token } = trigger;
      const malformed = [
        "",
        "x",
        token.slice(0, -1),
        `${token}x`,
        flip(token, 20),
        flip(token, 53),
        `${token}/x`,
      ];
      malformed.push(
        token.toUpperCase(),
        issueToken("access"),
        "%00",
        "%zz",
        "..%2f",
        "😀",
        "a".repeat(5000),
      );

      for (const each of malformed) {
        const answer = await send("{}", {}, `/deliver/${each}`);
        assert.deepEqual(
          [answer.status, answer.body],
          [400, { message: "Invalid pipeline trigger token" }],
          each,
        );
      }
    });
  });

  describe("404 and 403", () => {
    it("refuses a token that was never issued", async () => {
      await assertRefused(
        send("{}", {}, `/deliver/${issueToken("trigger")}`),
        404,
        "Pipeline trigger not found",
      );
    });

    it("refuses a disabled trigger at once in every process, and accepts it once enabled", async () => {
      const toggled = await world.acme.trigger();
      const other = await world.another();
      const both = [world.url, other.url].map((url) => url + toggled.path);
      for (const url of both) assert.equal((await post(url, "{}")).status, 201);

      await updateTrigger(world.services, world.acme.operator, toggled, { enabled: false });
      for (const url of both) await assertRefused(post(url, "{}"), 403, "Pipeline trigger is disabled");

      await updateTrigger(other.services, world.acme.operator, toggled, { enabled: true });
      for (const url of both) assert.equal((await post(url, "{}")).status, 201);
    });

    it("refuses a deleted trigger at once in every process", async () => {
      const doomed = await world.acme.trigger();
      const other = await world.another();
      for (const url of [world.url, other.url])
        assert.equal((await post(url + doomed.path, "{}")).status, 201);

      await deleteTrigger(world.services, world.acme.operator, doomed);

      for (const url of [world.url, other.url]) {
        await assertRefused(post(url + doomed.path, "{}"), 404, "Pipeline trigger not found");
      }
    });

    it("never accepts after the answer to a disable, even in a race", async () => {
      const raced = await world.acme.trigger();
      let isDisabled = false;
      const late: number[] = [];
      const sender = async () => {
        for (let isLate = false; !isLate; ) {
          isLate = isDisabled;
          const { status } = await post(world.url + raced.path, "{}");
          if (isLate) late.push(status);
        }
      };

      const senders = Array.from({ length: 10 }, sender);
      await updateTrigger(world.services, world.acme.operator, raced, { enabled: false });
      isDisabled = true;
      await Promise.all(senders);

      assert.deepEqual(new Set(late), new Set([403]));
    });
  });

  describe("415", () => {
    it("refuses any content type but application/json", async () => {
      for (const type of [
        "text/plain",
        "application/xml",
        "application/jsonx",
        "application/vnd.x+json",
        "json",
      ]) {
        await assertRefused(
          send("{}", { "Content-Type": type }),
          415,
          "Content-Type must be application/json",
        );
      }
      const untyped = request(world.url + trigger.path, { method: "POST", body: Buffer.from("{}") });
      await assertRefused(untyped, 415, "Content-Type must be application/json");
    });

    it("refuses any charset but utf-8", async () => {
      const answering = send("{}", { "Content-Type": "application/json; charset=iso-8859-1" });
      await assertRefused(answering, 415, "Content-Type must be application/json");
    });

    it("tells senders of forms where to choose JSON", async () => {
      for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
        const answer = await send("payload=%7B%7D", { "Content-Type": type });
        assert.equal(answer.status, 415);
        assert.match(answer.body.message, /Choose application\/json .* in the sender's settings/);
      }
    });

    it("refuses compressed bodies", async () => {
      await assertRefused(
        send(Buffer.from(gzipSync("{}")), { "Content-Encoding": "gzip" }),
        415,
        "Content-Encoding must be identity: send the payload uncompressed",
      );
      for (const none of ["identity", "Identity", "", " "])
        assert.equal((await send("{}", { "Content-Encoding": none })).status, 201);
    });
  });

  describe("413", () => {
    const message = "Payload is larger than 100,000 bytes";
    const ofSize = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));

    it("accepts exactly the limit and refuses one byte more", async () => {
      assert.equal((await send(ofSize(100_000))).status, 201);
      const answer = await assertRefused(send(ofSize(100_001)), 413, message);
      assert.equal(answer.headers.get("connection"), "close");
    });

    it("refuses a chunked body as soon as it is too large", async () => {
      const endless = new ReadableStream({
        // Without a pause, fetch may fill the memory before it sees the answer.
        pull: async (controller) => {
          await setImmediate();
          controller.enqueue(Buffer.alloc(10_000, "x"));
        },
      });
      const answer = request(world.url + trigger.path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: endless,
        duplex: "half",
      } as RequestInit);
      await assertRefused(answer, 413, message);
    });

    it("answers 413 to a declared huge body without waiting for it", async () => {
      const socket = connect(Number(new URL(world.url).port), "127.0.0.1");
      socket.write(
        `POST ${trigger.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{`,
      );
      const [answer] = await once(socket, "data");
      assert.match(String(answer), /^HTTP\/1\.1 413 /);
      socket.destroy();
    });
  });

  describe("401", () => {
    const message = "Invalid webhook signature";

    it("accepts a GitHub signature over exactly these bytes and nothing else", async () => {
      const signed = await world.acme.trigger({ type: "github", secret: "s3cret" });
      const body = '{"a": 1}';
      const good = `sha256=${hmac("s3cret", body)}`;
      const sign = (signature: string | undefined, sent = body) =>
        send(sent, signature === undefined ? {} : { "X-Hub-Signature-256": signature }, signed.path);

      assert.equal((await sign(good)).status, 201);
      assert.equal((await sign(good.toUpperCase().replace("SHA256", "sha256"))).status, 201);
      for (const bad of [
        undefined,
        "",
        "sha256=",
        good.slice(7),
        `${good}0`,
        good.slice(0, -1),
        `sha1=${good.slice(7)}`,
      ]) {
        await assertRefused(sign(bad), 401, message);
      }
      await assertRefused(sign(good, '{"a":1}'), 401, message);
      await assertRefused(sign(`sha256=${hmac("other", body)}`), 401, message);
    });

    it("requires no signature when verification is off", async () => {
      const unsigned = await world.acme.trigger({ type: "github" });
      assert.equal((await send("{}", { "X-Hub-Signature-256": "sha256=wrong" }, unsigned.path)).status, 201);
    });
  });

  describe("400 for the payload", () => {
    it("names a byte order mark", async () => {
      const utf16 = Buffer.from("\ufeff{}", "utf16le");
      for (const [body, name] of [
        [Buffer.from("\ufeff{}"), "UTF-8"],
        [utf16, "UTF-16"],
        [utf16.swap16(), "UTF-16"],
      ] as const)
        await assertRefused(
          send(body),
          400,
          `Payload begins with a byte order mark of ${name}: send JSON in UTF-8 without one`,
        );
    });

    it("refuses a body that is not JSON in UTF-8", async () => {
      const bad = ["", "{", "{'a':1}", "{}x", "NaN", '{"a":1,}'].map((text) => Buffer.from(text));
      for (const body of [
        ...bad,
        Buffer.from([0x22, 0xff, 0x22]),
        Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      ]) {
        await assertRefused(send(body), 400, "Payload is not valid JSON");
      }
    });

    it("refuses nesting beyond the limit, and counts no bracket inside a string", async () => {
      const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
      assert.equal((await send(nested(20))).status, 201);
      await assertRefused(send(nested(21)), 400, "Payload is nested too deeply");
      await assertRefused(send("[".repeat(90_000)), 400, "Payload is nested too deeply");
      await assertRefused(
        send(`${'{"a":'.repeat(21)}1${"}".repeat(21)}`),
        400,
        "Payload is nested too deeply",
      );
      assert.equal((await send(JSON.stringify(`"\\${"[".repeat(100)}`))).status, 201);
    });

    it("checks large payloads too", async () => {
      const large = (inside: string) => `{"pad":"${"x".repeat(80_000)}","a":${inside}}`;
      const answers = await Promise.all(
        ["[1]", "[1", "[".repeat(21) + "]".repeat(21), '"\\u00e9 [[ \\" ]]"', "\ud800"].map((each) =>
          send(large(each)),
        ),
      );
      assert.deepEqual(
        answers.map((answer) => [answer.status, answer.body.message]),
        [
          [201, undefined],
          [400, "Payload is not valid JSON"],
          [400, "Payload is nested too deeply"],
          [201, undefined],
          [400, "Payload is not valid JSON"],
        ],
      );
    });
  });

  describe("Idempotency-Key", () => {
    it("repeats the first delivery's id for any body, and uses no slot of the limit", async () => {
      const first = await send('{"n":1}', { "Idempotency-Key": "k1" });
      const plain = await send("{}");
      const again = await send('{"n":2}', { "Idempotency-Key": "k1" });
      const next = await send("{}");

      assert.equal(first.headers.get("idempotent-replayed"), null);
      assert.deepEqual([again.status, again.body], [201, first.body]);
      assert.equal(again.headers.get("idempotent-replayed"), "true");
      const remaining = (answer: Answer) => Number(answer.headers.get("ratelimit-remaining"));
      assert.equal(remaining(plain) - remaining(next), 1);
      assert.equal(remaining(again), remaining(plain));
      assert.equal(again.headers.get("ratelimit-limit"), plain.headers.get("ratelimit-limit"));
    });

    it("creates one delivery for simultaneous requests with one key, in two processes", async () => {
      const other = await world.another();
      const before = await countDeliveries();
      const urls = Array.from(
        { length: 40 },
        (_, index) => (index % 2 ? world.url : other.url) + trigger.path,
      );

      const answers = await Promise.all(urls.map((url) => post(url, "{}", { "Idempotency-Key": "race" })));

      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]));
      assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1);
      assert.equal(answers.filter((answer) => answer.headers.get("idempotent-replayed") === null).length, 1);
      assert.equal(await countDeliveries(), before + 1);
    });

    it("applies to one trigger and for 24 hours", async () => {
      const elsewhere = await world.acme.trigger();
      const first = await send("{}", { "Idempotency-Key": "k2" });
      const other = await send("{}", { "Idempotency-Key": "k2" }, elsewhere.path);
      world.clock.advance(24 * 3_600_000);
      const later = await send("{}", { "Idempotency-Key": "k2" });

      assert.equal(new Set([first.body.id, other.body.id, later.body.id]).size, 3);
      assert.equal(later.headers.get("idempotent-replayed"), null);
      assert.deepEqual((await send("{}", { "Idempotency-Key": "k2" })).body, later.body);
    });

    it("is refused in every process once the trigger is disabled or deleted", async () => {
      const other = await world.another();
      const doomed = await world.acme.trigger();
      const again = () => post(other.url + doomed.path, "{}", { "Idempotency-Key": "k3" });
      assert.equal((await again()).status, 201);
      assert.equal((await again()).headers.get("idempotent-replayed"), "true");

      await updateTrigger(world.services, world.acme.operator, doomed, { enabled: false });
      await assertRefused(again(), 403, "Pipeline trigger is disabled");
      await deleteTrigger(world.services, world.acme.operator, doomed);
      await assertRefused(again(), 404, "Pipeline trigger not found");
    });

    it("is refused above 255 characters", async () => {
      assert.equal((await send("{}", { "Idempotency-Key": "k".repeat(255) })).status, 201);
      await assertRefused(
        send("{}", { "Idempotency-Key": "k".repeat(256) }),
        400,
        "Idempotency-Key is longer than 255 characters",
      );
    });
  });

  describe("order of the checks", () => {
    it("reports the first problem in order", async () => {
      const signed = await world.acme.trigger({ type: "github", secret: "s3cret" });
      const huge = JSON.stringify("x".repeat(100_001));
      const text = { "Content-Type": "text/plain" };

      assert.equal((await send("{", text, "/deliver/bad")).status, 400);
      assert.equal((await send("{", text, `/deliver/${issueToken("trigger")}`)).status, 404);
      assert.equal((await send(huge, text, signed.path)).status, 415);
      assert.equal((await send(huge, {}, signed.path)).status, 413);
      assert.equal((await send("{", {}, signed.path)).status, 401);
    });
  });

  describe("429", () => {
    it("accepts exactly the limit from two processes at once, then sends Retry-After", async () => {
      const other = await world.another();
      let trials = 0;
      const { small, path, answers } = await countedByRedis([world, other], async () => {
        const small = await setUpOrganization(world, `small-${database.dialect}-${++trials}`, 300);
        const [{ path }, secondTrigger] = [await small.trigger(), await small.trigger()];
        const send = (index: number) =>
          untilNotBusy(() =>
            post((index % 2 ? world.url : other.url) + (index % 3 ? path : secondTrigger.path), "{}"),
          );
        return {
          small,
          path,
          answers: await Promise.all(Array.from({ length: 340 }, (_, index) => send(index))),
        };
      });

      const refused = answers.filter((answer) => answer.status === 429);
      assert.equal(answers.filter((answer) => answer.status === 201).length, 300);
      assert.equal(refused.length, 40);
      for (const { headers, body } of refused) {
        assert.match(body.message, /limit of 300 deliveries an hour\. Please wait \d+ seconds/);
        assert.ok(Number(headers.get("retry-after")) > 3000);
        assert.equal(headers.get("ratelimit-remaining"), "0");
        assert.equal(headers.get("retry-after"), headers.get("ratelimit-reset"));
      }

      await updateOrganization(world.services, small.slug, { deliveriesPerHour: 301, features: {} });
      assert.equal((await post(world.url + path, "{}")).status, 201);
      assert.equal((await post(world.url + path, "{}")).status, 429);
    });
  });

  it("keeps signatures, cookies and credentials out of the stored headers", async () => {
    const { body } = await send("{}", {
      Authorization: "Bearer x",
      Cookie: "a=b",
      "X-Other": "kept",
      "X-Api-Key": "y",
    });

    const { db } = world.services;
    const row = (await db.select().from(db.tables.payloads)).find((each) => each.deliveryId === body.id);
    const stored = Object.fromEntries(
      (row?.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]),
    );
    assert.deepEqual(
      [stored.authorization, stored.cookie, stored["x-api-key"], stored["x-other"]],
      [null, null, null, "kept"],
    );
  });

  it("writes neither the token nor the signing secret into any log line", async () => {
    const signed = await world.acme.trigger({ type: "github", secret: "s3cret-never-logged" });
    await send("{}", {}, signed.path);
    await send("{}", {}, `${signed.path}x`);

    const all = world.logged.join("");
    assert.ok(all.includes("/deliver/[redacted]"));
    assert.ok(!all.includes(signed.token.slice(5)));
    assert.ok(!all.includes("s3cret-never-logged"));
  });
});
