import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { issueReadingToken } from "../../../shared/builds/meta-data/meta-data.ts";
import { hashToken, issueToken } from "../../../shared/crypto/tokens.ts";
import { newId } from "../../../shared/ids.ts";
import { evictPayloads } from "../../../shared/triggers/payloads/payloads.ts";
import { buildOfDelivery, decide } from "../../helpers/builds.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { type Answer, eventually, post, request } from "../../helpers/http.ts";
import { openAcme } from "../../helpers/organization.ts";

const largest = 5 * 1024 * 1024 - 1;

const settings = {
  META_DATA_READS_PER_MINUTE: "10",
  META_DATA_CALLS_PER_MINUTE: "200",
};

describeWorldOn(sqlite, "POST /v3/{jobs,builds}/:id/data", withSettings(openAcme, settings), (world) => {
  /** Creates a webhook's build and a meta-data token. */
  async function setUpBuild(
    payload: string | Buffer<ArrayBuffer> = "{}",
    headers: Record<string, string> = {},
  ) {
    const { path } = await world.acme.trigger();
    const { body } = await post(world.url + path, payload, headers);
    await decide(world.services, [body.id]);
    const build = await buildOfDelivery(world, body.id);
    const { db } = world.services;
    const job = (await db.select().from(db.tables.jobs)).find((each) => each.buildId === build?.id);
    assert.ok(build && job);
    await deleteTriggers();

    const reader = await issueReadingToken(world.services, job);
    const writer = issueToken("job");
    const now = world.clock.now();
    await db.transaction(async (tx) => {
      const { jobs } = tx.tables;
      const lease = { agentId: newId(now), attempt: 1, acceptedAt: now };
      await tx
        .update(jobs)
        .set({ state: "running", ...lease })
        .where(eq(jobs.id, job.id));
      await tx.insert(tx.tables.jobTokens).values({
        tokenHash: hashToken(writer),
        jobId: job.id,
        attempt: 1,
        readOnly: false,
        createdAt: now,
        expiresAt: new Date(now.getTime() + 3_600_000),
      });
    });
    return { build, job, reader, writer };
  }

  /** These tests need more than ten triggers. */
  async function deleteTriggers() {
    const { db, clock } = world.services;
    await db.transaction(async (tx) => {
      await tx.update(tx.tables.triggers).set({ deletedAt: clock.now() });
    });
  }

  function call(path: string, token: string | undefined, body: unknown, scheme = "Token"): Promise<Answer> {
    return request(`${world.url}/v3/${path}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token ? { Authorization: `${scheme} ${token}` } : {}),
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }
  const webhook = { key: "service:webhook" };

  describe("the webhook's payload", () => {
    it("is exactly the posted text, by job and by build", async () => {
      const payload = '{"b":1,"a":2,"a":3, "big":9007199254740993,"s":"\\u00e9\\/é\\ud800","t":1.0e+2}\n';
      const { build, job, reader } = await setUpBuild(payload);

      for (const path of [`jobs/${job.id}/data/get`, `builds/${build.id}/data/get`]) {
        const { status, body } = await call(path, reader, webhook);
        assert.equal(status, 200);
        assert.deepEqual(body, { key: "service:webhook", value: payload });
      }
    });

    it("is exact up to 5 MiB, chunked or not", async () => {
      const text = JSON.stringify("é".repeat((largest - 3) / 2)).padEnd(largest - 1, " ");
      const payload = Buffer.from(text.slice(0, -1)).subarray(0, largest);
      const { job, reader } = await setUpBuild(Buffer.from(payload));

      const { body } = await call(`jobs/${job.id}/data/get`, reader, webhook);

      assert.ok(Buffer.from(body.value).equals(payload));
    });

    it("can be read ten times a minute for each build; two more readers are held, others get 429", async () => {
      const { build, job, reader } = await setUpBuild();
      const paths = Array.from({ length: 14 }, (_, at) =>
        at % 2 ? `jobs/${job.id}/data/get` : `builds/${build.id}/data/get`,
      );

      const quick: Awaited<ReturnType<typeof call>>[] = [];
      const answers = paths.map(async (path) => void quick.push(await call(path, reader, webhook)));
      await eventually("all but two are answered", async () => quick.length === 12);

      const refused = quick.filter((answer) => answer.status === 429);
      assert.equal(quick.filter((answer) => answer.status === 200).length, 10);
      assert.equal(refused.length, 2);
      for (const { headers, body } of refused) {
        assert.match(body.message, /10 times a minute/);
        assert.ok(Number(headers.get("retry-after")) >= 1);
        assert.equal(headers.get("ratelimit-reset"), headers.get("retry-after"));
      }
      await Promise.all(answers);
      assert.deepEqual(
        quick.slice(12).map(({ status }) => status),
        [429, 429],
      );
      const elsewhere = await setUpBuild();
      assert.equal((await call(`jobs/${elsewhere.job.id}/data/get`, elsewhere.reader, webhook)).status, 200);
    });

    it("appears in exists and keys, which the limit does not count", async () => {
      const { job, reader } = await setUpBuild();
      for (let asked = 0; asked < 11; asked++) {
        assert.deepEqual((await call(`jobs/${job.id}/data/exists`, reader, webhook)).body, { exists: true });
        assert.deepEqual((await call(`jobs/${job.id}/data/keys`, reader, "{}")).body, ["service:webhook"]);
      }
      assert.equal((await call(`jobs/${job.id}/data/get`, reader, webhook)).status, 200);
    });

    it("answers 404 once it is evicted, and has no key", async () => {
      const { job } = await setUpBuild();
      world.clock.advance(7 * 86_400_000 + 60_000);
      await evictPayloads(world.services);
      const reader = await issueReadingToken(world.services, job);

      const { status, body } = await call(`jobs/${job.id}/data/get`, reader, webhook);

      assert.equal(status, 404);
      assert.equal(typeof body.message, "string");
      assert.deepEqual((await call(`jobs/${job.id}/data/exists`, reader, webhook)).body, { exists: false });
      assert.deepEqual((await call(`jobs/${job.id}/data/keys`, reader, "{}")).body, []);
    });

    it("answers 404 for a build without a webhook", async () => {
      const { build, job, reader } = await setUpBuild();
      const { db } = world.services;
      await db.transaction(async (tx) => {
        await tx.update(tx.tables.builds).set({ deliveryId: null });
      });

      assert.equal((await call(`jobs/${job.id}/data/get`, reader, webhook)).status, 404);
      assert.deepEqual((await call(`builds/${build.id}/data/keys`, reader, "{}")).body, []);
    });

    it("never contains a header of the delivery", async () => {
      const { job, reader } = await setUpBuild("{}", {
        "X-GitHub-Event": "push",
        "X-Custom": "header-value",
      });

      const keys = await call(`jobs/${job.id}/data/keys`, reader, "{}");
      const value = await call(`jobs/${job.id}/data/get`, reader, webhook);

      assert.doesNotMatch(keys.text + value.text, /push|header-value|x-custom/i);
    });
  });

  describe("ordinary meta-data", () => {
    it("is shared by the jobs of a build, and shows on the build", async () => {
      const { build, job, writer } = await setUpBuild();

      assert.equal(
        (await call(`jobs/${job.id}/data/set`, writer, { key: "release", value: "1.0 😀" })).status,
        200,
      );
      assert.equal(
        (await call(`builds/${build.id}/data/set`, writer, { key: "release", value: "1.1" })).status,
        200,
      );

      assert.deepEqual((await call(`builds/${build.id}/data/get`, writer, { key: "release" })).body, {
        key: "release",
        value: "1.1",
      });
      assert.deepEqual((await call(`jobs/${job.id}/data/keys`, writer, "{}")).body, [
        "release",
        "service:webhook",
      ]);
      assert.deepEqual((await call(`jobs/${job.id}/data/exists`, writer, { key: "x" })).body, {
        exists: false,
      });
      const { body } = await request(
        `${world.url}/v2/organizations/acme/pipelines/web/builds/${build.number}`,
        {
          headers: { Authorization: `Bearer ${await world.acme.token("read_builds")}` },
        },
      );
      assert.deepEqual(body.meta_data, { release: "1.1" });
    });

    it("takes several entries in set-batch, all or none", async () => {
      const { build, job, reader, writer } = await setUpBuild();
      const batch = (items: unknown, token = writer) =>
        call(`jobs/${job.id}/data/set-batch`, token, { items });
      const keys = async () => (await call(`jobs/${job.id}/data/keys`, reader, "{}")).body;

      const items = ["b", "a", "a"].map((key, index) => ({ key, value: String(index) }));
      const { status, body } = await batch(items);
      assert.deepEqual([status, body], [200, { keys: ["b", "a", "a"] }]);
      assert.deepEqual((await call(`builds/${build.id}/data/get`, reader, { key: "a" })).body.value, "2");
      const known = ["a", "b", "service:webhook"];
      assert.deepEqual(await keys(), known);

      for (const [wrong, message] of [
        [
          [
            { key: "new", value: "x" },
            { key: "service:webhook", value: "x" },
          ],
          "The key service:webhook is reserved",
        ],
        [
          [
            { key: "new", value: "x" },
            { key: "", value: "x" },
            { key: "", value: "y" },
          ],
          "Key can't be blank",
        ],
        [[{ key: "new", value: [] }], "value must be text"],
        [{ key: "new" }, "items must be a list of objects with key and value"],
        [Array(1001).fill({ key: "new", value: "x" }), "items can have 1,000 entries at most"],
      ] as const) {
        const answer = await batch(wrong);
        assert.deepEqual([answer.status, answer.body], [422, { message }]);
      }
      assert.equal((await batch([{ key: "new", value: "x" }], reader)).status, 403);
      assert.deepEqual(await keys(), known);
      assert.equal((await batch([])).status, 200);
    });

    it("is set by batches in opposite orders at the same time", async () => {
      const { job, writer } = await setUpBuild();
      const items = Array.from({ length: 20 }, (_, index) => ({ key: `k${index}`, value: "v" }));
      const batches = Array.from({ length: 8 }, (_, index) => (index % 2 ? items : items.toReversed()));

      const answers = await Promise.all(
        batches.map((each) => call(`jobs/${job.id}/data/set-batch`, writer, { items: each })),
      );

      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    });

    it("resolves the commit of its build by what the agent checked out", async () => {
      const { build, job, writer } = await setUpBuild();
      const [first, second] = ["a".repeat(40), "b".repeat(40)];
      const set = (value: string, key = "buildkite:git:commit") =>
        call(`jobs/${job.id}/data/set`, writer, { key, value });
      const commit = async () => {
        const { db } = world.services;
        const rows = await db.select().from(db.tables.builds);
        return rows.find(({ id }) => id === build.id)?.commit;
      };

      for (const value of [
        "HEAD",
        "commit abc",
        `commit ${first}0`,
        `\ncommit ${first}`,
        `commit ${"g".repeat(40)}`,
      ])
        assert.equal((await set(value)).status, 200);
      await set(`commit ${first}`, "other:git:commit");
      assert.equal(await commit(), "HEAD");
      const value = `commit ${first}\nabbrev-commit aaaa\nAuthor: Ada\n\n    Hello\n`;
      assert.equal((await set(value)).status, 200);
      assert.equal(await commit(), first);
      await set(`commit ${second}`);
      assert.equal(await commit(), first);
      assert.equal(
        (await call(`jobs/${job.id}/data/get`, writer, { key: "buildkite:git:commit" })).body.value,
        `commit ${second}`,
      );
    });

    it("resolves a commit of SHA-256 in a batch too", async () => {
      const { build, job, writer } = await setUpBuild();
      const sha256 = "c".repeat(64);
      const items = [{ key: "buildkite:git:commit", value: `commit ${sha256}` }];

      await call(`jobs/${job.id}/data/set-batch`, writer, { items });

      const { body } = await request(`${world.url}/v2/organizations/acme/builds?commit=${sha256}`, {
        headers: { Authorization: `Bearer ${await world.acme.token("read_builds")}` },
      });
      assert.deepEqual(
        body.map(({ id }: { id: string }) => id),
        [build.id],
      );
    });

    it("answers 404 for an unknown key", async () => {
      const { job, reader } = await setUpBuild();
      const { status, body } = await call(`jobs/${job.id}/data/get`, reader, { key: "nope" });
      assert.deepEqual([status, body], [404, { message: 'No meta-data found with the key "nope"' }]);
      assert.equal((await call(`jobs/${job.id}/data/get`, reader, { key: "a\0" })).status, 404);
      assert.deepEqual((await call(`jobs/${job.id}/data/exists`, reader, { key: "\ud800" })).body, {
        exists: false,
      });
    });

    it("cannot be written with a read-only token", async () => {
      const { job, reader } = await setUpBuild();
      const { status, body } = await call(`jobs/${job.id}/data/set`, reader, { key: "a", value: "b" });
      assert.deepEqual([status, body], [403, { message: "This token can only read meta-data" }]);
    });

    it("refuses reserved keys, values over 100 KB and text that cannot be kept", async () => {
      const { job, writer } = await setUpBuild();
      const set = (key: string, value: string) => call(`jobs/${job.id}/data/set`, writer, { key, value });

      assert.equal((await set("k", "é".repeat(51_200))).status, 200);
      assert.equal((await set("service:other", "")).status, 200);
      const other = { key: "service:other" };
      assert.equal((await call(`jobs/${job.id}/data/get`, writer, other)).body.value, "");
      const none = await call(`jobs/${job.id}/data/set`, writer, { key: "k", value: {} } as never);
      assert.deepEqual([none.status, none.body], [422, { message: "value must be text" }]);
      const refusals: [string, string, RegExp][] = [
        ["service:webhook", "x", /reserved/],
        ["", "é".repeat(51_201), /^Key can't be blank, Value is larger than 100 KB$/],
        ["", "x", /blank/],
        ["k", "é".repeat(51_201), /100 KB/],
        ["k", "a\0b", /without NUL/],
        ["k", "\ud800", /Unicode/],
        ["k".repeat(1025), "x", /1,024 bytes/],
        ["鍵".repeat(342), "x", /1,024 bytes/],
      ];
      for (const [key, value, message] of refusals) {
        const answer = await set(key, value);
        assert.equal(answer.status, 422, answer.text);
        assert.match(answer.body.message, message);
      }
    });
  });

  describe("calls of one job", () => {
    it("are at most a fifth of META_DATA_CALLS_PER_MINUTE in 12 seconds, then 429; other jobs go on", async () => {
      const [one, two] = [await setUpBuild(), await setUpBuild()];
      const keys = ({ job, reader }: typeof one) => call(`jobs/${job.id}/data/keys`, reader, "{}");

      const answers = await Promise.all(Array.from({ length: 45 }, () => keys(one)));

      const refused = answers.filter(({ status }) => status === 429);
      assert.equal(answers.filter(({ status }) => status === 200).length, 40);
      assert.equal(refused.length, 5);
      for (const { headers, body } of refused) {
        assert.match(body.message, /too many calls/);
        const wait = Number(headers.get("retry-after"));
        assert.ok(wait >= 1 && wait <= 13, `${wait}`);
      }
      assert.equal((await keys(two)).status, 200);
    });
  });

  describe("access", () => {
    it("accepts the schemes Token and Bearer, in upper and lower case", async () => {
      const { job, reader } = await setUpBuild();
      for (const scheme of ["Token", "token", "Bearer", "BEARER"]) {
        assert.equal((await call(`jobs/${job.id}/data/exists`, reader, webhook, scheme)).status, 200);
      }
    });
  });

  describe("bad input", () => {
    it("is refused with a message and never with a 500", async () => {
      const { job, writer } = await setUpBuild();
      const path = `jobs/${job.id}/data`;
      const bad: [string, number][] = [
        ["", 400],
        ["{", 400],
        ["[]", 400],
        ['"text"', 400],
        ["null", 400],
        ["{}", 422],
        ['{"key":1}', 422],
        ['{"key":["a"]}', 422],
        [`{"key":"${"x".repeat(1024 * 1024)}"}`, 413],
      ];
      for (const [body, status] of bad) {
        const answer = await call(`${path}/get`, writer, body);
        assert.equal(answer.status, status, body.slice(0, 20));
        assert.equal(typeof answer.body.message, "string");
      }
      assert.equal((await call(`${path}/set`, writer, { key: "k", value: {} } as never)).status, 422);
      const plain = await request(`${world.url}/v3/${path}/get`, {
        method: "POST",
        headers: { Authorization: `Token ${writer}`, "Content-Type": "text/plain" },
        body: "key=k",
      });
      assert.equal(plain.status, 415);
    });

    it("answers 405 to other methods", async () => {
      const { status, headers } = await request(`${world.url}/v3/jobs/x/data/get`);
      assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
    });
  });
});
