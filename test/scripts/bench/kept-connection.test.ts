import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { KeptConnection } from "../../../scripts/bench/load/kept-connection.ts";

const pieces = ["[1,", `"${"x".repeat(200_000)}\\r\\n0\r\n\r\n",`, "2]"];

describe("the connection of the load generator", () => {
  const server = createServer((request, response) => {
    if (request.url === "/whole") return response.end(pieces.join(""));
    for (const piece of pieces) response.write(piece);
    return response.end();
  });
  let connection: KeptConnection;

  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    connection = await KeptConnection.open(new URL(`http://127.0.0.1:${port}`));
  });
  after(() => {
    connection.close();
    server.close();
  });

  it("reads answers with a length and answers in chunks, one after the other", async () => {
    for (const path of ["/whole", "/pieces", "/pieces", "/whole"]) {
      const { status, body } = await connection.send(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`));

      assert.equal(status, 200);
      assert.equal(body.toString(), pieces.join(""));
    }
  });
});
