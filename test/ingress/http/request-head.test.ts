import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

const hsts = "strict-transport-security";

describeWorldOn(sqlite, "the head of a request", startWorld, (world) => {
  const send = async (lines: string[]): Promise<string> => {
    const socket = connect(Number(new URL(world.url).port), "127.0.0.1");
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    return text(socket);
  };

  it("is refused with 400 and the connection closed if it has two Host headers", async () => {
    for (const path of ["/healthz", "/v2/user", "/sign-in", "/oauth/token"]) {
      const answer = await send([`GET ${path} HTTP/1.1`, "Host: one.example", "hOST: two.example"]);

      assert.match(answer, /^HTTP\/1\.1 400 /, path);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      assert.match(answer, /more than one Host header/);
    }
  });

  it("may have an empty Expect, and no unknown expectation", async () => {
    const statusOf = async (expectation: string) => {
      const lines = ["GET /healthz HTTP/1.1", "Host: x", `Expect:${expectation}`, "Connection: close"];
      return (await send(lines)).split(" ")[1];
    };
    assert.deepEqual(await Promise.all(["", "  ", " 100-continue", " teapot"].map(statusOf)), [
      "200",
      "200",
      "100",
      "417",
    ]);
  });

  it("leaves no token in the log, however its path is encoded", async () => {
    const token = issueToken("trigger");
    const secret = token.slice(5);
    const escaped = secret.replace(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    const paths = [
      `/deliver/${token}`,
      `/deliver%2F${token}`,
      `/deliver/%ZZ${token}`,
      `/%64eliver/sb%74r_${secret}`,
      `/v2/sbtr%5F${secret}`,
      `/v2/sbtr%5f${secret}%`,
      `/v2/%C3%28/sbtr%5F${secret}`,
      `/anything/sbtr_${secret.slice(0, 3)}%zz${secret.slice(3)}`,
      `/anything/x${token}`,
      `/anything/x_${token}`,
      `/anything/sbtr_${escaped}`,
      `//deliver\\${token}`,
    ];

    for (const path of paths) await send([`GET ${path} HTTP/1.1`, "Host: x", "Connection: close"]);

    const lines = world.logged.filter((line) => line.includes('"request"')).slice(-paths.length);
    assert.equal(lines.length, paths.length);
    for (const line of world.logged) {
      assert.ok(!line.includes(secret.slice(-20)), line);
      assert.ok(!line.includes(escaped.slice(-20)), line);
    }
  });

  it("needs no https unless all addresses are https", async () => {
    assert.equal((await request(`${world.url}/sign-in`)).headers.get(hsts), null);
  });
});

describe("Strict-Transport-Security", () => {
  const headerWith = async (settings: Record<string, string>) => {
    const world = await startWorld(sqlite, settings);
    const answers = await Promise.all(
      ["/sign-in", "/v2", "/v2/user", "/oauth/token", "/nowhere"].map((path) => request(world.url + path)),
    );
    await world.close();
    const [first, ...others] = new Set(answers.map(({ headers }) => headers.get(hsts)));
    assert.deepEqual(others, []);
    return first;
  };

  it("is in every answer if all addresses are https", async () => {
    assert.equal(await headerWith({ PUBLIC_URL: "https://ci.example" }), "max-age=31536000");
  });

  it("is left out if an address is http, or a port of localhost", async () => {
    const settings = { PUBLIC_URL: "https://ci.example", WEBHOOK_URL: "http://ci.example" };
    assert.equal(await headerWith(settings), null);
    assert.equal(await headerWith({ PUBLIC_URL: "https://localhost:8443" }), null);
  });
});
