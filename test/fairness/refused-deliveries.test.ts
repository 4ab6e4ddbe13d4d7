import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, it } from "node:test";
import {
  listLatestRefused,
  requireRefusedRequest,
} from "../../shared/triggers/deliveries/refused-requests.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

const secret = "s3cret";
const body = '{"a":1}';

describe("deliveries with a wrong signature", () => {
  let world: World;
  let path: string;

  before(async () => {
    const settings = { TRUSTED_PROXIES: "127.0.0.1", DELIVERY_REFUSALS_PER_MINUTE: "3" };
    world = await startWorld(sqlite, settings);
    const organization = await setUpOrganization(world);
    ({ path } = await organization.trigger({ type: "github", secret }));
  });
  after(() => world.close());

  const send = (ip: string, key = "wrong", headers: Record<string, string> = {}) => {
    const signature = createHmac("sha256", key).update(body).digest("hex");
    return post(world.url + path, body, {
      "X-Forwarded-For": ip,
      "X-Hub-Signature-256": `sha256=${signature}`,
      ...headers,
    });
  };
  const statuses = async (count: number, answer: (index: number) => ReturnType<typeof send>) => {
    const found: number[] = [];
    for (let index = 0; index < count; index++) found.push((await answer(index)).status);
    return found;
  };

  it("are 429 beyond the limit of their network, and no valid delivery is", async () => {
    const refused = await statuses(5, () => send("192.0.2.1"));
    assert.deepEqual(refused, [401, 401, 401, 429, 429]);
    const { headers } = await send("192.0.2.1");
    assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal(headers.get("connection"), "close");

    const valid = await send("192.0.2.1", secret);
    assert.equal(valid.status, 201);
    const { status, headers: shown } = await send("198.51.100.1", secret);
    assert.equal(status, 201);
    assert.equal(
      Number(shown.get("ratelimit-remaining")),
      Number(valid.headers.get("ratelimit-remaining")) - 1,
    );
    assert.equal((await send("198.51.100.1")).status, 401, "other networks have limits of their own");
  });

  it("leave samples within the limit only: a sender beyond it costs no more than its refusal", async () => {
    const trigger = await (await setUpOrganization(world, "sampled")).trigger({ type: "github", secret });
    const send = (event: string) =>
      post(world.url + trigger.path, body, { "X-Forwarded-For": "192.0.2.9", "X-GitHub-Event": event });
    const within = await statuses(3, () => send("within"));
    assert.deepEqual(within, [401, 401, 401]);

    assert.equal((await send("beyond")).status, 429);

    const sample = await eventually("the sample, the last of each five seconds", async () => {
      const [found] = await listLatestRefused(world.services, trigger.id);
      return found && requireRefusedRequest(world.services, trigger.id, found.id);
    });
    const [, event] = sample.headers.find(([name]) => name.toLowerCase() === "x-github-event") ?? [];
    assert.equal(event, "within");
  });

  it("are 429 beyond three times the limit from a /48", async () => {
    const refused = await statuses(11, (index) => send(`2001:db8:0:${index}::1`));
    assert.deepEqual(refused, [...Array(9).fill(401), 429, 429]);
  });

  it("count with those of a wrong content type", async () => {
    const refused = await statuses(4, () => send("203.0.113.1", secret, { "Content-Type": "text/plain" }));
    assert.deepEqual(refused, [415, 415, 415, 429]);
  });
});
