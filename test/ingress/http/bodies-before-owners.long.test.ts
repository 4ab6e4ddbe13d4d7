import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { patterns } from "../../../shared/paths.ts";
import { sqlite } from "../../helpers/databases.ts";
import { eventually, request } from "../../helpers/http.ts";
import { runIngress } from "../../helpers/processes.ts";
import { sendRaw } from "../../helpers/sockets.ts";
import { settingsOf, startWorld, type World } from "../../helpers/world.ts";

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

const missing = process.platform === "linux" ? false : "only Linux says how much memory a process has taken";

describe("bodies of callers without a token", { skip: missing }, () => {
  let world: World;
  let ingress: Awaited<ReturnType<typeof runIngress>>;
  const sockets: Socket[] = [];

  before(async () => {
    world = await startWorld(sqlite);
    ingress = await runIngress({ ...settingsOf(world), LOG_LEVEL: "error" });
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await ingress.kill("SIGTERM");
    await world.close();
  });

  const residentBytes = () => {
    const status = readFileSync(`/proc/${ingress.process.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * kilobyte;
  };
  const post = async (path: string, headers: string, body: string | Buffer) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`;
    const sent = await sendRaw(ingress.url, Buffer.concat([Buffer.from(head), Buffer.from(body)]));
    sockets.push(sent.socket);
    return sent;
  };

  it("are read for a second after an answer that does not need them, slowly, and no longer", async () => {
    const chunk = Buffer.alloc(megabyte, "x");
    const endless = async (path: string) => {
      const { socket, status } = await post(path, "Content-Length: 100000000000", "");
      const write = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("drain", write);
      write();
      assert.ok((await status) >= 400, `${path}: ${await status}`);
      await eventually(`the end of ${path}`, async () => socket.destroyed);
      return socket.bytesWritten;
    };

    const sent = Promise.all(
      ["/nothing", "/v2/user", "/v3/ping", `/deliver/${"x".repeat(50)}`].flatMap((path) =>
        Array.from({ length: 10 }, () => endless(path)),
      ),
    );
    assert.equal((await request(`${ingress.url}/healthz`)).status, 200);
    await sent;
  });

  it("of a refused request that end soon leave their connection open", async () => {
    const { socket, status } = await post("/nothing", "Content-Length: 100000", Buffer.alloc(50_000));
    assert.equal(await status, 404);
    const second = new Promise((resolve) => socket.once("data", resolve));
    socket.write(Buffer.alloc(50_000));
    socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.match(String(await second), /^HTTP\/1\.1 200/);
  });

  it("take little memory: 1,000 forms of artifacts, with 19 fields of 16 KB each", async (context) => {
    const fields = Array.from(
      { length: 19 },
      (_, index) =>
        `--b\r\nContent-Disposition: form-data; name="f${index}"\r\n\r\n${"x".repeat(16_000)}\r\n`,
    ).join("");
    const headers = "Content-Length: 10000000\r\nContent-Type: multipart/form-data; boundary=b";
    const idle = residentBytes();

    const forms = await Promise.all(
      Array.from({ length: 1000 }, () => post(patterns.uploadArtifact, headers, fields)),
    );
    const statuses = await Promise.all(forms.map(({ status }) => status));

    const more = Math.round((residentBytes() - idle) / megabyte);
    context.diagnostic(`${more} MB more`);
    assert.ok(more < 200, `${more} MB more`);
    assert.ok(
      statuses.every((status) => [413, 429, 503].includes(status)),
      String([...new Set(statuses)]),
    );
  });
});
