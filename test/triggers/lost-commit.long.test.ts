import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, it } from "node:test";
import { postgres, skipPostgres, type TestDatabase } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

type Loss = "the COMMIT" | "its answer";

/** Stands before Postgres. Once armed, it loses the next COMMIT, or its answer, with the connection. */
function openLossyDatabase(): { database: TestDatabase; arm: (loss: Loss) => void } {
  let armed: Loss | undefined;
  const create = async () => {
    const { url, drop } = await postgres.create();
    const { hostname, port } = new URL(url);
    const server = createServer((client) => {
      const upstream = connect(Number(port || 5432), hostname);
      let isLost = false;
      const cut = () => {
        client.destroy();
        upstream.destroy();
      };
      client.on("data", (chunk) => {
        const loss = chunk.includes("COMMIT\0") ? armed : undefined;
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
  return { database: { dialect: "postgres", create }, arm: (loss) => (armed = loss) };
}

describe("POST /deliver/:token, a connection that breaks during COMMIT", { skip: skipPostgres }, () => {
  const deliver = async (loss: Loss) => {
    const { database, arm } = openLossyDatabase();
    const world = await startWorld(database);
    const { path } = await (await setUpOrganization(world)).trigger();
    arm(loss);
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
