import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { login } from "../helpers/login.ts";

type Reply = [status: number, body: unknown, headers?: Record<string, string>];

interface Asked {
  path: string;
  form: URLSearchParams;
  headers: IncomingHttpHeaders;
}

/** Repeats the last answer of each path. */
async function startServer(t: TestContext, answers: (url: string) => Record<string, Reply[]>) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const path = String(request.url);
    asked.push({ path, form: new URLSearchParams(await text(request)), headers: request.headers });
    const replies = byPath[path] ?? [];
    const [status, body, headers] = (replies.length > 1 ? replies.shift() : replies[0]) ?? [
      404,
      "<h1>Not found",
    ];
    const type = typeof body === "string" ? "text/html" : "application/json";
    response.writeHead(status, { "Content-Type": type, ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const byPath = answers(url);

  const home = mkdtempSync(join(tmpdir(), "signalbox-login-"));
  t.after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true });
  });
  let nowMs = Date.now();
  const clock = {
    now: () => new Date(nowMs),
    advance(ms: number) {
      nowMs += ms;
    },
  };
  const here = { door: { url }, clock, home };
  return {
    asked: (path: string) => asked.filter((each) => each.path === path),
    login: (...args: string[]) => login(here, args),
    kept: () => JSON.parse(readFileSync(join(home, ".config/signalbox/credentials.json"), "utf8")),
    url,
    clock,
  };
}

const discovery = "/.well-known/oauth-authorization-server";
const codes = {
  device_code: "d",
  user_code: "ABCD-EFGH",
  verification_uri: "https://x.example",
  expires_in: 60,
};
const pending: Reply = [400, { error: "authorization_pending" }];

/** RFC 8414, RFC 8628: required members. */
const least = (url: string) => ({
  [discovery]: [
    [200, { issuer: url, token_endpoint: `${url}/t`, device_authorization_endpoint: `${url}/d` }],
  ] as Reply[],
  "/d": [[200, codes]] as Reply[],
  "/t": [pending, [200, { access_token: "a", token_type: "bearer" }]] as Reply[],
});

describe("npm run login at another server", () => {
  it("signs in at a server that answers only the required members", async (t) => {
    const server = await startServer(t, least);

    const { code, stdout, stderr, paused } = await server.login(
      "--client-id",
      "device",
      "--scope",
      "one two",
    );

    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(paused, [5, 5]);
    assert.deepEqual(Object.fromEntries(server.asked("/d")[0]?.form ?? []), {
      client_id: "device",
      scope: "one two",
    });
    assert.deepEqual(Object.fromEntries(server.asked("/t")[0]?.form ?? []), {
      client_id: "device",
      device_code: "d",
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    });
    assert.doesNotMatch(stdout, /Or open this link/);
    assert.match(stdout, /^You are signed in to http[^ ]+\.\nScopes {8}one two\nAccess {8}does not expire$/m);
    assert.deepEqual(server.kept()[`${server.url} device`], {
      access_token: "a",
      scope: "one two",
      expires_at: null,
      api: server.url,
    });
  });

  it("deletes tokens that the server cannot revoke", async (t) => {
    const server = await startServer(t, least);
    await server.login();

    const { code, stdout, stderr } = await server.login("--sign-out");

    assert.deepEqual(
      [code, stderr],
      [0, "This server cannot revoke tokens: they are only forgotten here.\n"],
    );
    assert.match(stdout, /^You are signed out/);
    assert.deepEqual(server.kept(), {});
  });

  it("keeps a refresh token that is not replaced", async (t) => {
    const first = { access_token: "a", token_type: "bearer", refresh_token: "r", expires_in: 60 };
    const server = await startServer(t, (url) => ({
      ...least(url),
      "/t": [
        [200, first],
        [200, { access_token: "b", token_type: "bearer", expires_in: 60 }],
      ],
    }));
    await server.login();
    server.clock.advance(61_000);

    const { code } = await server.login("--status");

    assert.equal(code, 0);
    const [kept] = Object.values<Record<string, string>>(server.kept());
    assert.deepEqual([kept?.access_token, kept?.refresh_token], ["b", "r"]);
  });

  it("retries after 429 and 503 as Retry-After says", async (t) => {
    const server = await startServer(t, (url) => ({
      ...least(url),
      "/t": [
        [429, { error: "slow_down" }, { "Retry-After": "20" }],
        [429, "busy"],
        [503, "down", { "Retry-After": "7" }],
        [200, { access_token: "a", token_type: "bearer" }],
      ],
    }));

    const { code, paused } = await server.login();

    assert.deepEqual([code, paused], [0, [5, 20, 20, 15]], "the last pause is what is left of the time");
  });

  it("shows the wait when the server gives no code", async (t) => {
    const busy: Reply = [429, { error: "server_error" }, { "Retry-After": "42" }];
    const server = await startServer(t, (url) => ({ ...least(url), "/d": [busy] }));

    const { code, stderr } = await server.login();

    assert.equal(code, 1);
    assert.equal(stderr, `The server at ${server.url} cannot do this now: try again in 42 seconds.\n`);
  });

  for (const [title, answers, sentence] of [
    ["that is no OAuth server", () => ({}), /is not an OAuth server .*\(status 404\): check --server/],
    ["that answers pages", () => ({ [discovery]: [[200, "<p>Hi"]] }), /is not an OAuth server/],
    [
      "without the device flow",
      (url: string) => ({ [discovery]: [[200, { issuer: url }]] }),
      /does not sign devices in: check --server/,
    ],
    [
      "that refuses for a reason of its own",
      (url: string) => ({
        ...least(url),
        "/d": [[400, { error: "odd", error_description: "\u001b[31mNo\nway" }]],
      }),
      /refused with odd \(Noway\): check the options/,
    ],
    [
      "that asks for a password",
      (url: string) => ({ ...least(url), "/t": [[401, {}, { "WWW-Authenticate": 'Basic realm="x"' }]] }),
      /does not know the client signalbox-cli/,
    ],
  ] as [string, (url: string) => Record<string, Reply[]>, RegExp][]) {
    it(`explains the fault of a server ${title}`, async (t) => {
      const server = await startServer(t, answers);

      const { code, stderr } = await server.login();

      assert.equal(code, 1);
      assert.match(stderr, sentence);
      assert.match(stderr, /^[^\n]+\n$/);
    });
  }

  it("strips terminal control sequences from a server's answers", async (t) => {
    const sneaky = {
      ...codes,
      user_code: "AB\u001b[2J\u0007CD",
      verification_uri: "https://x.example/\r\nforged",
    };
    const server = await startServer(t, (url) => ({ ...least(url), "/d": [[200, sneaky]] }));

    const { stdout } = await server.login();

    assert.match(stdout, /^ {4}https:\/\/x\.example\/forged$/m);
    assert.match(stdout, /^ {4}ABCD$/m);
  });
});
