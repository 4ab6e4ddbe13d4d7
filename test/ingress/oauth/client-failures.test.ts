import assert from "node:assert/strict";
import { it } from "node:test";
import { Redis } from "ioredis";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

const open = withSettings(startWorld, { CLIENT_FAILURES_PER_MINUTE: "5" });

describeWorldOn(sqlite, "client authentication at the OAuth endpoints", open, (world) => {
  const confidential = async () => {
    const { application, secret = "" } = await createApplication(world.services, {
      name: "Tool",
      confidential: true,
      deviceFlow: true,
      refreshTokens: false,
    });
    return { client_id: application.clientId, client_secret: secret };
  };
  const send = (fields: Record<string, string>) =>
    request(`${world.url}/oauth/revoke`, {
      method: "POST",
      body: new URLSearchParams({ token: issueToken("access"), ...fields }),
    });
  const sendAll = async (requests: Record<string, string>[]) =>
    (await Promise.all(requests.map(send))).map(({ status }) => status).sort();

  it("accepts any number of correct secrets at once, and after wrong ones", async () => {
    const client = await confidential();

    const atOnce = await sendAll(Array(20).fill(client));
    const wrong = await sendAll(Array(7).fill({ ...client, client_secret: issueToken("clientSecret") }));
    const right = await send(client);

    assert.deepEqual(atOnce, Array(20).fill(200));
    assert.deepEqual(wrong, [401, 401, 401, 401, 401, 429, 429]);
    assert.equal(right.status, 200);
  });

  it("counts all unknown clients of an address together", async () => {
    const redis = new Redis(process.env.TEST_REDIS_URL ?? "");
    const countWindows = async () => (await redis.keys(`${world.config.redisPrefix}:window:*`)).length;
    const windows = await countWindows();

    const answers = await sendAll(
      Array.from({ length: 7 }, (_, index) => ({ client_id: `made-up-${index}` })),
    );

    assert.deepEqual(answers, [401, 401, 401, 401, 401, 429, 429]);
    assert.equal(await countWindows(), windows + 1);
    redis.disconnect();
  });
});
