import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { StagedResponse } from "../../ingress/http/response.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { eventually, post, request } from "../helpers/http.ts";
import { startQueuePages } from "../helpers/pages.ts";
import { sendRaw } from "../helpers/sockets.ts";

const megabyte = 1024 * 1024;
const payload = JSON.stringify("x".repeat(4.5 * megabyte));
const maxInFlight = 80 * megabyte;
const sockets = 120;
const small = Buffer.alloc(60_000, "x");

const settings = {
  TRUSTED_PROXIES: "127.0.0.1",
  MAX_ANSWER_BYTES_IN_FLIGHT: String(maxInFlight),
  API_REQUESTS_PER_MINUTE: "1000",
};

describeWorldOn(sqlite, "answers that nobody reads", withSettings(startQueuePages, settings), (pages) => {
  let file: string;
  let apiPath: string;

  before(async () => {
    const trigger = await pages.acme.trigger();
    const { body } = await post(pages.url + trigger.path, payload);
    const below = `/pipelines/web/triggers/${trigger.id}/deliveries/${body.id}`;
    file = `${pages.paths.pipeline}/triggers/${trigger.id}/deliveries/${body.id}/payload`;
    apiPath = `/v2/organizations/acme${below}/request`;
  });

  /** Sends a GET whose answer is never read. The status comes from the log. */
  const neglect = async (path: string, headers: Record<string, string>) => {
    const lines = Object.entries({ Host: "x", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const { socket } = await sendRaw(pages.url, `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    socket.pause();
    return socket;
  };
  const logged = (path: string) =>
    pages.logged.map((line) => JSON.parse(line)).filter((line) => line.path === path);
  const statusesOf = async (path: string, count: number) => {
    const lines = await eventually("the answers", async () => {
      const found = logged(path);
      return found.length >= count && found;
    });
    pages.logged.length = 0;
    return lines.map(({ status }) => status as number);
  };

  it("are at most four a session: the next gets 429, and other sessions go on", async () => {
    const [mine, other] = [await pages.cookieOf(pages.ada), await pages.cookieOf(pages.bob)];
    const connections = await Promise.all(Array.from({ length: 10 }, () => neglect(file, { Cookie: mine })));

    const statuses = await statusesOf(file, 10);

    assert.deepEqual(statuses.toSorted(), [...Array(4).fill(200), ...Array(6).fill(429)]);
    const refused = await request(pages.url + file, { headers: { Cookie: mine } });
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "5");
    const { text } = await request(pages.url + file, { headers: { Cookie: other } });
    assert.ok(text === payload, text.slice(0, 500));
    for (const socket of connections) socket.destroy();
    await eventually("the session's downloads end", async () => {
      const { status } = await request(pages.url + file, { headers: { Cookie: mine } });
      return status === 200;
    });
  });

  it("of pipelined requests count until the connection closes, and no longer", async () => {
    const cookie = await pages.cookieOf(pages.ada);
    const get = `GET ${file} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`;
    for (let round = 0; round < 6; round++) {
      pages.logged.length = 0;
      const { socket } = await sendRaw(pages.url, get.repeat(3));
      socket.pause();
      await eventually("an answer", async () => logged(file).length > 0);
      socket.destroy();
    }

    for (const user of [pages.ada, pages.bob]) {
      const headers = { Cookie: user === pages.ada ? cookie : await pages.cookieOf(user) };
      await eventually("room", async () => (await request(pages.url + file, { headers })).status === 200);
    }
  });

  it("keep memory within the budget, lose to clients that read, and recover", async () => {
    const tokens = await Promise.all(
      Array.from({ length: sockets / 4 }, () => pages.acme.token("read_pipelines")),
    );
    const before = process.memoryUsage().rss;
    const connections = await Promise.all(
      Array.from({ length: sockets }, (_, index) =>
        neglect(apiPath, {
          Authorization: `Bearer ${tokens[index % tokens.length]}`,
          "X-Forwarded-For": `203.0.${index}.1`,
        }),
      ),
    );

    const statuses = await statusesOf(apiPath, sockets);

    for (const status of statuses) assert.ok(status === 200 || status === 429, `${status}`);
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 3 * maxInFlight, `grew by ${Math.round(grown / megabyte)} MB`);

    await sleep(1500); // those that read nothing for a second are slow
    const token = await pages.acme.token("read_pipelines");
    const headers = { Authorization: `Bearer ${token}`, "X-Forwarded-For": "198.51.100.1" };
    for (let round = 0; round < 10; round++) {
      // A download counts until the server has seen its end.
      const answer = await eventually("a download", async () => {
        const { status, body } = await request(pages.url + apiPath, { headers });
        return status === 200 && { body };
      });
      assert.equal(answer.body.payload.length, payload.length - 2);
    }
    for (const socket of connections) socket.destroy();
  });
});

describe("an answer that nobody reads", () => {
  it("ends with its connection after half a minute, pipelined or not", async () => {
    const server = createServer(
      { ServerResponse: StagedResponse as typeof ServerResponse },
      (_, response) => {
        response.writeHead(200, ["Content-Length", String(small.length)] as unknown as OutgoingHttpHeaders);
        response.write(small);
        response.end();
      },
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const connected = once(server, "connection") as Promise<[Socket]>;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { socket } = await sendRaw(url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500));
    socket.pause();
    const [connection] = await connected;

    await once(connection, "close");

    assert.ok(connection.bytesWritten < 500 * small.length);
    socket.destroy();
    server.close();
  });
});
