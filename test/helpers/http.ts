import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, request } from "../../scripts/scratch/http.ts";

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

/** Below the runner's limit, whose message names no cause. */
const patienceMs = 200_000;
/** From one look to the next. It grows, because looks take time from what they wait for. */
const pausesMs = { first: 10, most: 60 };

/** Waits for another process or job. The limit only ends a hanging test. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (let pauseMs = pausesMs.first; Date.now() < deadline; pauseMs = Math.min(2 * pauseMs, pausesMs.most)) {
    const found = await look();
    if (found) return found;
    await sleep(pauseMs);
  }
  assert.fail(`${what} did not happen within ${patienceMs} ms`);
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
