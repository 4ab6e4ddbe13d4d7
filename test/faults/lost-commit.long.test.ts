import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, it } from "node:test";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { build } from "../helpers/api.ts";
import { postgres, skipPostgres, type TestDatabase } from "../helpers/databases.ts";
import {
  approveCode,
  assertOAuthError,
  poll,
  refresh,
  setUpClient,
  signIn,
  startDevice,
} from "../helpers/device.ts";
import { get, post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

type Loss = "the COMMIT" | "its answer";

interface Armed {
  loss: Loss;
  /** Text of a statement in the transaction: others commit beside it. */
  statement: string;
}

/** Stands before Postgres. Once armed, it loses a COMMIT, or its answer, with the connection. */
function openLossyDatabase(): { database: TestDatabase; arm: (armed: Armed) => void } {
  let armed: Armed | undefined;
  const create = async () => {
    const { url, drop } = await postgres.create();
    const { hostname, port } = new URL(url);
    const server = createServer((client) => {
      const upstream = connect(Number(port || 5432), hostname);
      let isMeant = false;
      let isLost = false;
      const cut = () => {
        client.destroy();
        upstream.destroy();
      };
      client.on("data", (chunk) => {
        if (chunk.includes("BEGIN\0")) isMeant = false;
        if (armed && chunk.includes(armed.statement)) isMeant = true;
        const loss = isMeant && chunk.includes("COMMIT\0") ? armed?.loss : undefined;
        if (loss) armed = undefined;
        if (loss === "the COMMIT") return cut();
        isLost ||= loss === "its answer";
        upstream.write(chunk);
      });
      upstream.on("data", (chunk) => (isLost ? cut() : client.write(chunk)));
      for (const socket of [client, upstream]) {
        socket.on("error", cut);
        socket.on("close", cut);
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxied = Object.assign(new URL(url), { hostname: "127.0.0.1" });
    proxied.port = String((server.address() as AddressInfo).port);
    return {
      url: proxied.toString(),
      async drop() {
        server.close();
        await drop();
      },
    };
  };
  return { database: { ...postgres, create }, arm: (next) => (armed = next) };
}

async function setUp() {
  const { database, arm } = openLossyDatabase();
  const world = await startWorld(database);
  return { world, arm, acme: await setUpOrganization(world) };
}

describe("POST /deliver/:token, a connection that breaks during COMMIT", { skip: skipPostgres }, () => {
  const deliver = async (loss: Loss) => {
    const { world, arm, acme } = await setUp();
    const { path } = await acme.trigger();
    arm({ loss, statement: "insert_deliveries" });
    const answer = await post(world.url + path, "{}");
    const { db } = world.services;
    const ids = (await db.select().from(db.tables.deliveries)).map(({ id }) => id);
    await world.close();
    return { answer, ids };
  };

  it("answers 201 if the delivery was committed", async () => {
    const { answer, ids } = await deliver("its answer");

    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(ids, [answer.body.id]);
  });

  it("answers 503 if it was not", async () => {
    const { answer, ids } = await deliver("the COMMIT");

    assert.equal(answer.status, 503);
    assert.deepEqual(ids, []);
  });
});

describe("POST /oauth/token, a connection that breaks during COMMIT", { skip: skipPostgres }, () => {
  const setUpApproved = async () => {
    const { world, arm, acme } = await setUp();
    const client = await setUpClient(world, { refreshTokens: true });
    const { deviceCode, userCode } = await startDevice(world, client);
    assert.ok(await approveCode(world, acme, userCode));
    return { world, arm, acme, client, deviceCode };
  };

  it("answers the tokens of a device code if they were committed", async () => {
    const { world, arm, client, deviceCode } = await setUpApproved();

    arm({ loss: "its answer", statement: "insert_access_tokens" });
    const { status, text, body } = await poll(world, client, deviceCode);

    assert.equal(status, 200, text);
    assert.equal((await get(`${world.url}/v2/access-token`, body.access_token)).status, 200);
    await assertOAuthError(poll(world, client, deviceCode), 400, "invalid_grant");
    await world.close();
  });

  it("answers 503 if they were not, and the next poll gets them", async () => {
    const { world, arm, client, deviceCode } = await setUpApproved();

    arm({ loss: "the COMMIT", statement: "insert_access_tokens" });
    await assertOAuthError(poll(world, client, deviceCode), 503, "server_error");

    assert.equal((await poll(world, client, deviceCode)).status, 200);
    await world.close();
  });

  for (const loss of ["its answer", "the COMMIT"] as const)
    it(`answers a repeated refresh with tokens after ${loss} was lost`, async () => {
      const { world, arm, acme, client } = await setUpApproved();
      const { refresh_token } = await signIn(world, client, acme);

      arm({ loss, statement: "insert_access_tokens" });
      await assertOAuthError(refresh(world, client, refresh_token), 503, "server_error");

      assert.equal((await refresh(world, client, refresh_token)).status, 200);
      await world.close();
    });
});

describe("an agent's calls, a connection that breaks during COMMIT", { skip: skipPostgres }, () => {
  for (const loss of ["its answer", "the COMMIT"] as const)
    it(`may be repeated after ${loss} was lost`, async () => {
      const { world, arm, acme } = await setUp();
      await build(world, acme.pipeline.id, 1);
      const agent = await startAgent(world.url, await agentTokenOf(world, acme.cluster));
      const jobId = (await agent.offered()) as string;
      /** Sends a call twice, of which the first loses its COMMIT. */
      const sendTwice = async (call: string, body?: object, token?: string) => {
        arm({ loss, statement: 'update "jobs"' });
        const path = `/jobs/${jobId}/${call}`;
        const first = await agent.send("PUT", path, body, token);
        assert.equal(first.status, 503, first.text);
        const second = await agent.send("PUT", path, body, token);
        assert.equal(second.status, 200, second.text);
        return second.body;
      };

      const { token } = await sendTwice("accept");
      await sendTwice("start", {}, token);
      await sendTwice("finish", { exit_status: "1" }, token);

      const { db } = world.services;
      const jobs = await db.select().from(db.tables.jobs);
      const found = jobs.map(({ state, attempt, exitStatus }) => ({ state, attempt, exitStatus }));
      assert.deepEqual(found, [{ state: "failed", attempt: 1, exitStatus: 1 }]);
      await world.close();
    });
});
