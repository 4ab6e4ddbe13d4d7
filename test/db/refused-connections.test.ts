import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, it } from "node:test";
import { DatabaseUnavailable } from "../../shared/db/database.ts";
import { openDatabase } from "../../shared/db/open.ts";

/** AuthenticationOk and ReadyForQuery. */
const welcome = Buffer.from("R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I");

/** A server that refuses every connection with this error, after a greeting. */
async function startRefusing(code: string, greeting = Buffer.alloc(0)) {
  const fields = `SFATAL\0VFATAL\0C${code}\0Mcannot start a process\0\0`;
  const message = Buffer.alloc(5 + fields.length);
  message.write("E");
  message.writeInt32BE(4 + fields.length, 1);
  message.write(fields, 5);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([greeting, message])));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

describe("Postgres that refuses connections", () => {
  for (const code of [
    "08P01",
    "28P01",
    "3D000",
    "3F000",
    "53200",
    "57P03",
    "58030",
    "58P01",
    "XX000",
    "XX001",
  ]) {
    it(`is unavailable with ${code}`, async () => {
      const server = await startRefusing(code);
      const url = `postgres://x@127.0.0.1:${server.port}/x`;
      const db = openDatabase({ url, poolSize: 1, timeoutMs: 1000, onError: () => {} });

      await assert.rejects(
        db.transaction(async () => {}),
        DatabaseUnavailable,
      );

      await db.close();
      server.close();
    });
  }

  it("is unavailable, and ends no process, if it ends a connection in the message after it is ready", async () => {
    const server = await startRefusing("57P02", welcome);
    const url = `postgres://x@127.0.0.1:${server.port}/x`;
    const db = openDatabase({ url, poolSize: 1, timeoutMs: 1000, onError: () => {} });

    await assert.rejects(
      db.transaction(async () => {}),
      DatabaseUnavailable,
    );

    await db.close();
    server.close();
  });
});
