import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

// Receivers that take what is documented, and nothing else.

export const token = "correct-horse-battery-staple";

/** A request that a receiver took. */
export interface Received {
  path: string;
  event: string;
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  body: any;
  at: number;
}

export type Reply = { status?: number; headers?: Record<string, string>; text?: string; delayMs?: number };

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const common = ["accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"];

/**
 * Starts a receiver of webhooks.
 * @param mode how it verifies requests
 * @param clock of those who send: what is older than five minutes is refused
 */
export async function startReceiver(mode: "token" | "signature", clock: { now(): Date }) {
  const received: Received[] = [];
  /** Faults of requests. */
  const problems: string[] = [];
  const replies: Reply[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    try {
      check(request, raw, mode, clock);
      const [event, id] = [request.headers["x-buildkite-event"], request.headers["x-buildkite-request"]];
      const body = JSON.parse(raw.toString("utf8"));
      assert.equal(body.event, event);
      received.push({ path: request.url ?? "", event: String(event), id: String(id), body, at: Date.now() });
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
    const { status = 200, headers = {}, text = "ok", delayMs = 0 } = replies.shift() ?? {};
    setTimeout(() => {
      response.writeHead(status, headers);
      response.end(text);
    }, delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook?room=1`,
    received,
    problems,
    /** The next answers. Others are 200. */
    reply: (...next: Reply[]) => void replies.push(...next),
    /** Takes what came since the last time. */
    take() {
      assert.deepEqual(problems, []);
      return received.splice(0);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function check(
  request: IncomingMessage,
  raw: Buffer,
  mode: "token" | "signature",
  clock: { now(): Date },
): void {
  const { headers } = request;
  assert.equal(request.method, "POST");
  assert.equal(request.url, "/hook?room=1");
  const own = ["x-buildkite-event", "x-buildkite-request", `x-buildkite-${mode}`];
  assert.deepEqual(Object.keys(headers).sort(), [...common, ...own].sort());
  assert.equal(headers["content-type"], "application/json");
  assert.match(String(headers["x-buildkite-request"]), /^[0-9a-f-]{36}$/);
  if (mode === "token") assert.equal(headers["x-buildkite-token"], token);
  else verify(String(headers["x-buildkite-signature"]), raw, clock);
}

/** As the documentation of webhooks says. */
function verify(header: string, raw: Buffer, clock: { now(): Date }): void {
  const parts = new Map(header.split(",").map((part) => part.split("=", 2) as [string, string]));
  assert.deepEqual([...parts.keys()], ["timestamp", "signature"]);
  const timestamp = parts.get("timestamp") ?? "";
  const expected = createHmac("sha256", token).update(`${timestamp}.`).update(raw).digest("hex");
  assert.equal(parts.get("signature"), expected);
  assert.ok(Math.abs(clock.now().getTime() / 1000 - Number(timestamp)) < 300, "a fresh signature");
}
