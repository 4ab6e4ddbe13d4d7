import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { explainProblem, findProblem } from "../../../shared/db/health/problem.ts";
import { migrate } from "../../../shared/db/migrate.ts";
import { openDatabase } from "../../../shared/db/open.ts";

/** A message of the server: authentication, by its kind. */
function authentication(kind: number, data: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.write("R");
  head.writeInt32BE(8 + data.length, 1);
  head.writeInt32BE(kind, 5);
  return Buffer.concat([head, data]);
}

/** A server that asks each client for a password (SCRAM-SHA-256), and waits. */
async function startAsking() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(authentication(10, Buffer.from("SCRAM-SHA-256\0\0")));
      socket.once("data", (answer: Buffer) => {
        const nonce = /r=(\S+)/.exec(answer.toString("latin1"))?.[1];
        socket.write(authentication(11, Buffer.from(`r=${nonce}more,s=c2FsdA==,i=4096`)));
      });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `postgres://ada@127.0.0.1:${(server.address() as AddressInfo).port}/signalbox`;
  const allClosed = () => Promise.all(sockets.map((socket) => socket.closed || once(socket, "close")));
  return { url, allClosed, close: () => server.close() };
}

const sentence =
  /^Postgres refuses the user of DATABASE_URL \(it asks for a password, and there is none\): correct /;

describe("Postgres that asks for a password, and DATABASE_URL has none", () => {
  it("is named by a migration, which leaves no connection open", async () => {
    const server = await startAsking();

    await assert.rejects(migrate(server.url), { name: "MigrationFailed", message: sentence });

    await server.allClosed();
    server.close();
  });

  it("is named by a command, which leaves no connection open", async () => {
    const server = await startAsking();
    const db = openDatabase({ url: server.url, poolSize: 1, timeoutMs: 60_000, onError: () => {} });

    const error = await db.transaction(async () => {}).catch((error) => error);

    const problem = findProblem(error, server.url);
    assert.match(problem ? explainProblem(problem) : String(error), sentence);
    await db.close();
    await server.allClosed();
    server.close();
  });
});
