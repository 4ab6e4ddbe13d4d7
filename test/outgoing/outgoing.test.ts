import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from "node:net";
import { after, describe, it } from "node:test";
import type { LookUp } from "../../shared/outgoing/look-up.ts";
import { type OutgoingRequest, openOutgoing } from "../../shared/outgoing/outgoing.ts";
import type { OutgoingFailure, OutgoingProblem } from "../../shared/outgoing/problem.ts";

const local = ["127.0.0.0/8"];
const secret = "hunter2-hunter2";
const servers: (Server | SocketServer)[] = [];
after(() => {
  for (const server of servers) server.close();
});

async function listen<Listening extends Server | SocketServer>(server: Listening): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const serve = (answer: RequestListener) => listen(createServer(answer));
const local4 = (address: string): LookupAddress => ({ address, family: 4 });

async function failureOf(sent: Promise<unknown>): Promise<OutgoingProblem> {
  try {
    await sent;
  } catch (error) {
    const problem = error as OutgoingProblem;
    assert.equal(problem.name, "OutgoingProblem", problem.stack);
    assert.doesNotMatch(`${problem.stack}${JSON.stringify(problem)}`, new RegExp(secret));
    return problem;
  }
  assert.fail("It was answered.");
}

async function assertFails(sent: Promise<unknown>, failure: OutgoingFailure, message: RegExp): Promise<void> {
  const problem = await failureOf(sent);
  assert.equal(problem.failure, failure);
  assert.match(problem.message, message);
}

describe("a request to an address that somebody gave", () => {
  it("is sent as it is, and its answer is read", async () => {
    const got: { method: string | undefined; path: string | undefined; headers: object; body: string }[] = [];
    const port = await serve(async (request, response) => {
      const { method, url: path, headers } = request;
      got.push({ method, path, headers, body: await textOf(request) });
      response.writeHead(201, { "X-Left": "7" }).end('{"ok":true}');
    });
    const { send } = openOutgoing(local);

    const answer = await send({
      method: "POST",
      url: `http://127.0.0.1:${port}/hooks?page=2`,
      headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
      body: '{"name":"✓"}',
    });

    assert.deepEqual([answer.status, answer.headers["x-left"], answer.text], [201, "7", '{"ok":true}']);
    const [request] = got;
    assert.deepEqual(
      [request?.method, request?.path, request?.body],
      ["POST", "/hooks?page=2", '{"name":"✓"}'],
    );
    assert.partialDeepStrictEqual(request?.headers, {
      authorization: `Bearer ${secret}`,
      "content-length": "14",
      "accept-encoding": "identity",
      connection: "close",
    });
  });

  it("reaches no network inside, whatever form its address has", async () => {
    const { send, findProblem } = openOutgoing([]);
    let requests = 0;
    const port = await serve((_request, response) => {
      requests++;
      response.end();
    });
    const forms = ["127.0.0.1", "2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "127.1", "0x7f.1"];
    const others = [
      "127.0.0.1.",
      "localhost",
      "０",
      "127。0。0。1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::]",
      "0",
    ];
    for (const host of [...forms, ...others]) {
      const url = `http://${host}:${port}/`;
      await assertFails(
        send({ method: "GET", url }),
        "refused",
        /no public address.*OUTBOUND_ALLOWED_NETWORKS/,
      );
      assert.match((await findProblem(url))?.message ?? "", /OUTBOUND_ALLOWED_NETWORKS/, host);
    }
    assert.equal(requests, 0);
  });

  it("connects to the address that was looked up, once", async () => {
    const port = await serve(({ headers }, response) => void response.end(headers.host));
    let looks = 0;
    const changing: LookUp = async () => [local4(looks++ === 0 ? "127.0.0.1" : "169.254.169.254")];
    const { send } = openOutgoing(local, { lookUp: changing });
    const request = { method: "GET", url: `http://git.example.com:${port}/` } as const;

    assert.equal((await send(request)).text, `git.example.com:${port}`);
    assert.equal(looks, 1);
    await assertFails(send(request), "refused", /^git\.example\.com has no public address/);
    assert.equal(looks, 2);
  });

  it("goes to none of a name's addresses that is inside", async () => {
    const port = await serve((_request, response) => void response.end("right"));
    const mixed: LookUp = async () => [
      local4("10.0.0.7"),
      { address: "::1", family: 6 },
      local4("127.0.0.1"),
    ];
    const url = `http://git.example.com:${port}/`;

    assert.equal((await openOutgoing(local, { lookUp: mixed }).send({ method: "GET", url })).text, "right");
    const problem = await failureOf(openOutgoing([], { lookUp: mixed }).send({ method: "GET", url }));
    assert.doesNotMatch(problem.message, /10\.0\.0\.7/);
  });

  it("follows no redirect", async () => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests++;
      response.writeHead(302, { Location: "http://169.254.169.254/latest/meta-data" }).end();
    });
    const { send } = openOutgoing(local);

    const { status } = await send({ method: "GET", url: `http://127.0.0.1:${port}/` });
    assert.deepEqual([status, requests], [302, 1]);
  });

  it("reads the first 64 KB of an answer that never ends", async () => {
    let closed: (() => void) | undefined;
    const isClosed = new Promise<void>((resolve) => (closed = resolve));
    const port = await serve((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, "x");
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more).on("close", () => closed?.());
      more();
    });
    const { send } = openOutgoing(local);

    const { status, text } = await send({ method: "GET", url: `http://127.0.0.1:${port}/` });
    assert.deepEqual([status, text.length], [200, 64 * 1024]);
    await isClosed;
  });

  for (const [title, answer] of [
    ["never begins", () => undefined],
    ["comes by a byte a tenth of a second", drip],
    [
      "is announced longer than it is",
      (_request, response) => void response.writeHead(200, { "Content-Length": 9 }).write("x"),
    ],
  ] satisfies [string, RequestListener][])
    it(`gives up an answer that ${title}`, async () => {
      const port = await serve(answer);
      const { send } = openOutgoing(local, { timeoutMs: 400 });
      const request: OutgoingRequest = {
        method: "GET",
        url: `http://127.0.0.1:${port}/?key=${secret}`,
        headers: { "PRIVATE-TOKEN": secret },
      };
      await assertFails(send(request), "late", /^127\.0\.0\.1:\d+ did not answer within 0\.4 seconds$/);
    });

  it("gives up a host that announces its answer again and again", async () => {
    let written = 0;
    const hints = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000);
    const port = await listen(
      createSocketServer((socket) => {
        const flood = () => {
          while (written < 1e8 && socket.writable && socket.write(hints)) written += hints.length;
        };
        socket.on("drain", flood).on("error", () => undefined);
        socket.once("data", flood);
      }),
    );
    const { send } = openOutgoing(local);

    await assertFails(
      send({ method: "GET", url: `http://127.0.0.1:${port}/` }),
      "unreachable",
      /interim answers/,
    );
  });

  it("takes an answer that was announced", async () => {
    const port = await serve((_request, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => response.end("done"));
    });
    const { send } = openOutgoing(local);

    assert.equal((await send({ method: "GET", url: `http://127.0.0.1:${port}/` })).text, "done");
  });

  it("gives up a name that is not found in time", async () => {
    const { send } = openOutgoing(local, { timeoutMs: 50, lookUp: () => new Promise(() => undefined) });
    await assertFails(send({ method: "GET", url: "http://git.example.com/" }), "late", /did not answer/);
  });

  it("says that nobody listens, that a connection breaks, and that there is no such name", async () => {
    const { send } = openOutgoing(local);
    const breaking = await listen(createSocketServer((socket) => void socket.end("nonsense\r\n\r\n")));
    const none = createServer();
    const closed = await listen(none);
    await new Promise((resolve) => none.close(resolve));
    for (const port of [breaking, closed])
      await assertFails(
        send({ method: "GET", url: `http://127.0.0.1:${port}/` }),
        "unreachable",
        /^127\.0\.0\.1:\d+ could not be reached \([A-Z_]+\)$/,
      );
    const lookUp: LookUp = () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" }));
    await assertFails(
      openOutgoing(local, { lookUp }).send({ method: "GET", url: "https://git.example.com/" }),
      "unreachable",
      /^No address of git\.example\.com was found \(ENOTFOUND\)$/,
    );
  });

  it("refuses other addresses than of http, and names and passwords in them", async () => {
    const { send } = openOutgoing(local);
    for (const url of [
      "file:///etc/passwd",
      "ftp://127.0.0.1/",
      "gopher://127.0.0.1/",
      "127.0.0.1",
      "",
      "http://",
    ])
      await assertFails(send({ method: "GET", url }), "refused", /must begin with https:\/\/ or http:\/\//);
    const url = `http://ada:${secret}@127.0.0.1/`;
    await assertFails(send({ method: "GET", url }), "refused", /no user name and no password/);
  });

  it("refuses a header of several lines", async () => {
    const { send } = openOutgoing(local);
    const url = "http://127.0.0.1:1/";
    for (const value of [`${secret}\r\nX-Other: 1`, `${secret}\n`, `${secret}\0`, `${secret} ✓`])
      await assertFails(
        send({ method: "GET", url, headers: { Authorization: value } }),
        "refused",
        /^The header "Authorization" must be one line of text$/,
      );
    const headers = { "X-One\r\nX-Two": "1" };
    await assertFails(send({ method: "GET", url, headers }), "refused", /must be one line of text/);
  });
});

function drip(_request: IncomingMessage, response: Parameters<RequestListener>[1]): void {
  const timer = setInterval(() => response.write("x"), 100);
  response.on("close", () => clearInterval(timer));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
