import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { before, describe, it } from "node:test";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { eventually, post, request } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { startWorld } from "../../helpers/world.ts";

const settings = {
  HEADERS_TIMEOUT_SECONDS: "1",
  REQUEST_TIMEOUT_SECONDS: "5",
  MAX_CONNECTIONS: "20",
  // Else this address had a share of the connections.
  TRUSTED_PROXIES: "127.0.0.1",
  // Three quarters are for deliveries.
  MAX_BODY_BYTES_IN_FLIGHT: "130000",
  MIN_UPLOAD_BYTES_PER_SECOND: "0",
};

describeWorldOn(sqlite, "the ingress under attack", withSettings(startWorld, settings), (world) => {
  let path: string;

  before(async () => {
    ({ path } = await (await setUpOrganization(world)).trigger());
  });

  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(world.url).port), "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  const tooSlow = "The request took too long to arrive";
  const head = (length: number) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  it("answers 408 and closes when headers arrive too slowly", async () => {
    const socket = await open();
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    assertRefused(await text(socket), 408, tooSlow);
  });

  it("answers 408 and closes when a body arrives too slowly", async () => {
    const socket = await open();
    socket.write(`${head(1000)}{`);
    assertRefused(await text(socket), 408, tooSlow);
  });

  it("logs no error when a client leaves in the middle of its body", async () => {
    const socket = await open();
    socket.write(`${head(1000)}{`);
    socket.destroy();

    await eventually("the log line", async () => world.logged.some((line) => line.includes('"status":499')));
    assert.ok(!world.logged.some((line) => line.includes("unexpected error")));
  });

  it("answers 503 above MAX_BODY_BYTES_IN_FLIGHT, and recovers", async () => {
    const holder = await open();
    holder.write(head(95_000) + "x".repeat(90_000));
    const body = JSON.stringify("x".repeat(50_000));
    const refused = await eventually("a 503", async () => {
      const answer = await post(world.url + path, body);
      return answer.status === 503 && answer;
    });

    assert.equal(refused.headers.get("retry-after"), "5");
    assert.equal(typeof refused.body.message, "string");
    assert.equal((await request(`${world.url}/healthz`)).status, 200);
    holder.destroy();
    await eventually("room again", async () => (await post(world.url + path, body)).status === 201);
  });

  it("accepts no more connections than MAX_CONNECTIONS", async () => {
    const sockets = await Promise.all(Array.from({ length: 30 }, open));
    const isClosed = await Promise.all(
      sockets.map(async (socket) => {
        socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        const answered = once(socket, "data").then(
          () => false,
          () => true,
        );
        return Promise.race([answered, once(socket, "close").then(() => true)]);
      }),
    );
    for (const socket of sockets) socket.destroy();

    assert.ok(isClosed.filter(Boolean).length >= 10);
    await eventually("room again", async () =>
      request(`${world.url}/healthz`).then(
        (answer) => answer.status === 200,
        () => false,
      ),
    );
  });

  /** Sends each part after the previous answer; returns all output. */
  const exchange = async (...parts: string[]) => {
    const socket = await open();
    const answered = text(socket);
    for (const [index, part] of parts.entries()) {
      if (index > 0) await Promise.race([once(socket, "data"), once(socket, "close")]);
      socket.write(part);
    }
    return answered;
  };
  const assertRefused = (answer: string, status: number, message: string) => {
    const [head = "", body] = answer.split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(body, JSON.stringify({ message }));
    assert.match(head, /\r\nContent-Type: application\/json;charset=UTF-8\r\n/);
    assert.match(head, new RegExp(`\r\nContent-Length: ${body?.length}\r\n`));
    assert.match(head, /\r\nConnection: close(\r\n|$)/);
    const id = /\r\nX-Request-Id: ([0-9a-f-]{36})(\r\n|$)/.exec(head)?.[1] ?? assert.fail(head);
    assert.ok(world.logged.some((line) => line.includes(id)));
  };
  const healthy = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

  it("refuses a request that is not HTTP", async () => {
    for (const garbage of ["\x16\x03\x01 hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nHost x\r\n\r\n"])
      assertRefused(await exchange(garbage), 400, "The request is malformed");
  });

  it("refuses headers beyond 16 KB", async () => {
    const answer = await request(`${world.url}/healthz`, { headers: { "X-Large": "x".repeat(20_000) } });
    assert.equal(answer.status, 431);
    const large = `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"x".repeat(16 * 1024)}`;
    assertRefused(await exchange(large), 431, "The headers are too large");
  });

  it("refuses a malformed chunked body", async () => {
    const chunked = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked`;
    assertRefused(await exchange(`${chunked}\r\n\r\nzz\r\n`), 400, "The request is malformed");
  });

  it("answers a request before it refuses the next on the connection", async () => {
    const answer = await exchange(healthy, "garbage\r\n\r\n");
    const at = answer.indexOf("HTTP/1.1 400");
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assertRefused(answer.slice(at), 400, "The request is malformed");
  });

  it("never answers a request with the error of a later one", async () => {
    const body = JSON.stringify({ hello: "x".repeat(1000) });
    for (const first of [healthy, `${head(body.length)}${body}`, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"]) {
      const answer = await exchange(`${first}garbage\r\n\r\n`);
      assert.match(answer, /^(HTTP\/1\.1 20[01] .*)?$/s);
    }
  });
});

describe("shutting down", () => {
  it("finishes requests in flight and accepts no new ones", async () => {
    const world = await startWorld(sqlite);
    const { path } = await (await setUpOrganization(world)).trigger();
    const socket = connect(Number(new URL(world.url).port), "127.0.0.1");
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`,
    );
    await request(`${world.url}/healthz`);

    const closing = world.close();
    socket.write("}");
    const answer = await text(socket);
    await closing;

    assert.match(answer, /^HTTP\/1\.1 201 /);
    await assert.rejects(request(`${world.url}/healthz`));
  });
});
