import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import {
  assertLimited,
  assertOAuthError,
  authorize,
  basic,
  deviceGrantType,
  poll,
  postForm,
  setUpClient,
} from "../../helpers/device.ts";
import type { Answer } from "../../helpers/http.ts";
import { startWorld, type World } from "../../helpers/world.ts";
import { countedByRedis } from "../../redis/counted-by-redis.ts";

const count = (answers: Answer[], status: number) => answers.filter((each) => each.status === status).length;
const invalidClient = (answering: Promise<Answer>) => assertOAuthError(answering, 401, "invalid_client");

const settings = {
  DEVICE_AUTHORIZATIONS_PER_MINUTE: "4",
  DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: "6",
  CLIENT_FAILURES_PER_MINUTE: "3",
  TRUSTED_PROXIES: "loopback",
};

describeWorldOn(sqlite, "limits of the OAuth endpoints", withSettings(startWorld, settings), (world) => {
  let second: Pick<World, "url" | "services">;
  let addresses = 0;

  before(async () => {
    second = await world.another();
  });

  const newAddress = () => ({ "X-Forwarded-For": `192.0.${++addresses}.1` });
  const inTurns = (index: number) => (index % 2 ? world : second);
  const newClient = () => setUpClient(world);
  const counted = <T>(trial: () => Promise<T>) => countedByRedis([world, second], trial);

  describe("device codes per IP address", () => {
    it("are limited in two processes and for any client, then 429 server_error", async () => {
      const [client, other] = [await newClient(), await newClient()];

      const { here, answers } = await counted(async () => {
        const here = newAddress();
        const sent = Array.from({ length: 12 }, (_, index) => authorize(inTurns(index), client, {}, here));
        return { here, answers: await Promise.all(sent) };
      });

      assert.deepEqual([count(answers, 200), count(answers, 429)], [4, 8]);
      await assertLimited(authorize(world, client, {}, here), "server_error");
      await assertLimited(authorize(world, other, {}, here), "server_error");
    });

    it("do not count refused requests", async () => {
      const [client, here] = [await newClient(), newAddress()];
      const send = (more = {}) => authorize(world, client, more, here);

      for (let times = 0; times < 5; times++) {
        await assertOAuthError(send({ scope: "nope" }), 400, "invalid_scope");
        await assertOAuthError(send({ client_id: undefined }), 401, "invalid_client");
      }

      for (let times = 0; times < 4; times++) assert.equal((await send()).status, 200);
      await assertLimited(send(), "server_error");
    });
  });

  describe("device codes per client", () => {
    it("are limited from any address, then 429 server_error; other clients are not affected", async () => {
      const [other, address] = [await newClient(), newAddress()];

      const { client, answers } = await counted(async () => {
        const client = await newClient();
        const sent = Array.from({ length: 15 }, (_, index) =>
          authorize(inTurns(index), client, {}, newAddress()),
        );
        return { client, answers: await Promise.all(sent) };
      });

      assert.deepEqual([count(answers, 200), count(answers, 429)], [6, 9]);
      await assertLimited(authorize(world, client, {}, address), "server_error");
      for (let times = 0; times < 4; times++) {
        const { status } = await authorize(world, other, {}, address);
        assert.equal(status, 200, "what the client's limit refused takes no slot of the address");
      }
    });
  });

  describe("failed client authentications", () => {
    const attempt = (
      clientId: string,
      at: Record<string, string>,
      path = "token",
      { url }: { url: string } = world,
    ) =>
      postForm(
        `${url}/oauth/${path}`,
        { client_id: clientId, client_secret: "x", grant_type: deviceGrantType },
        at,
      );

    it("are limited in two processes at once, then 429", async () => {
      const { clientId } = await setUpClient(world, { confidential: true });

      const { here, answers } = await counted(async () => {
        const here = newAddress();
        const sent = Array.from({ length: 10 }, (_, index) =>
          attempt(clientId, here, "token", inTurns(index)),
        );
        return { here, answers: await Promise.all(sent) };
      });

      assert.deepEqual([count(answers, 401), count(answers, 429)], [3, 7]);
      await assertLimited(attempt(clientId, here), "slow_down");
      await assertLimited(attempt(clientId, here, "device_authorization"), "server_error");
      await assertLimited(attempt(clientId, here, "revoke"), "server_error");
      await assertLimited(attempt(clientId, here, "introspect"), "server_error");
      await invalidClient(attempt(clientId, newAddress()));
    });

    it("are counted together for all unknown clients of an address", async () => {
      const here = newAddress();
      for (let times = 0; times < 3; times++) await invalidClient(attempt("nope", here));

      await assertLimited(attempt("nope", here), "slow_down");
      const byHeader = postForm(`${world.url}/oauth/token`, {}, { ...basic("nope", "x"), ...here });
      await assertLimited(byHeader, "slow_down");
      await assertLimited(attempt("nope2", here), "slow_down");
      const { clientId } = await setUpClient(world, { confidential: true });
      await invalidClient(attempt(clientId, here)); // existing clients count separately
    });

    it("do not block public clients or clients with a correct secret", async () => {
      const here = newAddress();
      for (const client of [await newClient(), await setUpClient(world, { confidential: true })]) {
        const wrong = () =>
          postForm(`${world.url}/oauth/token`, {}, { ...basic(client.clientId, "x"), ...here });
        for (let times = 0; times < 3; times++) await invalidClient(wrong());
        await assertLimited(wrong(), "slow_down");

        assert.equal((await authorize(world, client, {}, here)).status, 200);
      }
    });

    it("do not count a public client's Basic credentials with an empty secret", async () => {
      const [client, here] = [await newClient(), newAddress()];

      for (let times = 0; times < 10; times++)
        await invalidClient(
          postForm(`${world.url}/oauth/token`, {}, { ...basic(client.clientId, ""), ...here }),
        );
    });

    it("do not count 32 simultaneous requests of an authenticated client", async () => {
      const client = await setUpClient(world, { confidential: true });
      const deviceCode = issueToken("deviceCode");

      const answers = await Promise.all(Array.from({ length: 32 }, () => poll(world, client, deviceCode)));

      assert.deepEqual(new Set(answers.map(({ body }) => body.error)), new Set(["invalid_grant"]));
    });
  });
});
