import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, request } from "../../scripts/scratch/http.ts";
import { patienceMs } from "./run-mode.ts";

export { type Answer, request };

export function post(
  url: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return request(url, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } });
}

export function get(url: string, token?: string): Promise<Answer> {
  return request(url, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
}

/** From one look to the next. It grows, because looks take time from what they wait for. */
const pausesMs = { first: 10, most: 60 };

/** Waits for another process or job. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  withinMs = patienceMs,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = pausesMs.first; Date.now() < deadline; pauseMs = Math.min(2 * pauseMs, pausesMs.most)) {
    const found = await look();
    if (found) return found;
    await sleep(pauseMs);
  }
  assert.fail(`${what} did not happen within ${withinMs} ms`);
}

/** Repeats a request that is answered 503. It waits for less time than Retry-After says: tests fill a server for moments. */
export async function untilNotBusy(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    assert.ok(answer.headers.get("retry-after"), answer.text);
    await sleep(100);
  }
}
