import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { describeOnEachDatabase } from "../helpers/databases.ts";
import {
  approveCode,
  assertOAuthError,
  authorize,
  basic,
  deviceGrantType,
  poll,
  postForm,
  setUpClient,
  startDevice,
  type TestClient,
} from "../helpers/device.ts";
import type { Answer } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

/** Too many: the code that clients know, a fixed sentence, and when to come back. */
async function assertLimited(answering: Promise<Answer>, error: string): Promise<void> {
  const { headers, body } = await assertOAuthError(answering, 429, error);
  assert.deepEqual(body, { error, error_description: "Too many attempts: wait as long as Retry-After says" });
  assert.match(headers.get("retry-after") ?? "", /^\d+$/);
  assert.ok(Number(headers.get("retry-after")) >= 1);
  assert.ok(Number(headers.get("retry-after")) <= 61);
  assert.equal(headers.get("www-authenticate"), null);
}

const count = (answers: Answer[], status: number) => answers.filter((each) => each.status === status).length;

describeOnEachDatabase("device codes an IP address in a minute", (database) => {
  it("are as many as set, from two processes at once, then 429 server_error", async () => {
    const world = await startWorld(database, { DEVICE_AUTHORIZATIONS_PER_MINUTE: "7" });
    const client = await setUpClient(world);
    const others = await setUpClient(world);
    const second = await world.another();

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => authorize(index % 2 ? world : second, client)),
    );

    assert.deepEqual([count(answers, 200), count(answers, 429)], [7, 13]);
    await assertLimited(authorize(world, client), "server_error");
    await assertLimited(authorize(world, others), "server_error");
    await world.close();
  });

  it("do not count requests that are refused", async () => {
    const world = await startWorld(database, { DEVICE_AUTHORIZATIONS_PER_MINUTE: "2" });
    const client = await setUpClient(world);

    for (let times = 0; times < 5; times++) {
      await assertOAuthError(authorize(world, client, { scope: "nope" }), 400, "invalid_scope");
      await assertOAuthError(authorize(world, client, { client_id: "nope" }), 401, "invalid_client");
    }

    assert.equal((await authorize(world, client)).status, 200);
    assert.equal((await authorize(world, client)).status, 200);
    await assertLimited(authorize(world, client), "server_error");
    await world.close();
  });

  it("are counted by the address that a trusted proxy names", async () => {
    const world = await startWorld(database, {
      DEVICE_AUTHORIZATIONS_PER_MINUTE: "1",
      TRUSTED_PROXIES: "loopback",
    });
    const client = await setUpClient(world);
    const from = (ip: string) => authorize(world, client, {}, { "X-Forwarded-For": ip });

    assert.equal((await from("192.0.2.1")).status, 200);
    assert.equal((await from("192.0.2.2")).status, 200);
    await assertLimited(from("192.0.2.1"), "server_error");
    await world.close();
  });
});

describeOnEachDatabase("device codes a client in a minute", (database) => {
  it("are as many as set, then 429 server_error, and no other client waits for it", async () => {
    const world = await startWorld(database, { DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: "3" });
    const client = await setUpClient(world);
    const others = await setUpClient(world);

    const answers = await Promise.all(Array.from({ length: 8 }, () => authorize(world, client)));

    assert.deepEqual([count(answers, 200), count(answers, 429)], [3, 5]);
    await assertLimited(authorize(world, client), "server_error");
    assert.equal((await authorize(world, others)).status, 200);
    await world.close();
  });
});

describeOnEachDatabase("failed client authentications in a minute", (database) => {
  let world: World;
  let open: TestClient;

  before(async () => {
    world = await startWorld(database, { CLIENT_FAILURES_PER_MINUTE: "3" });
    open = await setUpClient(world);
  });
  after(() => world.close());

  const attempt = (client_id: string, client_secret: string, path = "token", url = world.url) =>
    postForm(`${url}/oauth/${path}`, { client_id, client_secret, grant_type: deviceGrantType });

  it("are as many as set, from two processes at once, then 429", async () => {
    const { clientId } = await setUpClient(world, { confidential: true });
    const second = await world.another();

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        attempt(clientId, "wrong", "token", index % 2 ? world.url : second.url),
      ),
    );

    assert.deepEqual([count(answers, 401), count(answers, 429)], [3, 7]);
    await assertLimited(attempt(clientId, "wrong"), "slow_down");
    await assertLimited(attempt(clientId, "wrong", "device_authorization"), "server_error");
    await assertLimited(attempt(clientId, "wrong", "revoke"), "server_error");
    await assertLimited(attempt(clientId, "wrong", "introspect"), "server_error");
  });

  it("are counted for each client, also for clients that do not exist", async () => {
    for (let times = 0; times < 3; times++)
      await assertOAuthError(attempt("nope", "x"), 401, "invalid_client");

    await assertLimited(attempt("nope", "x"), "slow_down");
    await assertLimited(postForm(`${world.url}/oauth/token`, {}, basic("nope", "x")), "slow_down");
    await assertOAuthError(attempt("nope2", "x"), 401, "invalid_client");
  });

  it("do not hold up a public client, whose id anybody can send", async () => {
    const wrong = () => postForm(`${world.url}/oauth/token`, {}, basic(open.clientId, "wrong"));
    for (let times = 0; times < 3; times++) await assertOAuthError(wrong(), 401, "invalid_client");
    await assertLimited(wrong(), "slow_down");

    assert.equal((await authorize(world, open)).status, 200);
  });

  it("are not what a public client's Basic with an empty secret is", async () => {
    const client = await setUpClient(world);

    for (let times = 0; times < 10; times++) {
      const answering = postForm(`${world.url}/oauth/token`, {}, basic(client.clientId, ""));
      await assertOAuthError(answering, 401, "invalid_client");
    }
  });

  it("are not what a client does that proves itself, however often and however much at once", async () => {
    const acme = await setUpOrganization(world);
    const client = await setUpClient(world, { confidential: true });
    const { deviceCode, userCode } = await startDevice(world, client);
    await approveCode(world, acme, userCode);

    const answers = await Promise.all(Array.from({ length: 32 }, () => poll(world, client, deviceCode)));

    assert.deepEqual([count(answers, 200), count(answers, 400)], [1, 31]);
    assert.equal((await authorize(world, client)).status, 200);
  });
});

describeOnEachDatabase("limits while Redis is away", (database) => {
  let world: World;
  before(async () => {
    world = await startWorld(database, {
      REDIS_URL: "redis://127.0.0.1:1",
      CLIENT_FAILURES_PER_MINUTE: "2",
      DEVICE_AUTHORIZATIONS_PER_MINUTE: "2",
    });
  });
  after(() => world.close());

  it("count failed client authentications in memory, and forgive them after a minute", async () => {
    const { clientId } = await setUpClient(world, { confidential: true });
    const attempt = () => postForm(`${world.url}/oauth/token`, { client_id: clientId, client_secret: "x" });

    for (let times = 0; times < 2; times++) await assertOAuthError(attempt(), 401, "invalid_client");
    await assertLimited(attempt(), "slow_down");
    world.clock.advance(61_000);

    await assertOAuthError(attempt(), 401, "invalid_client");
  });

  it("count device codes in memory, and forget them after a minute", async () => {
    const client = await setUpClient(world);

    for (let times = 0; times < 2; times++) assert.equal((await authorize(world, client)).status, 200);
    await assertLimited(authorize(world, client), "server_error");
    world.clock.advance(61_000);

    assert.equal((await authorize(world, client)).status, 200);
  });
});
