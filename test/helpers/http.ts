import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared with what is expected of them
  body: any;
  text: string;
}

/** Sends a request and parses a JSON body. */
export async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** POST a webhook. */
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

/** Less than the runner's own limit for a test, which would not say what is missing. */
const patienceMs = 200_000;

/**
 * Waits for another process or job. The limit only ends a test that hangs: no assertion depends on how
 * fast the machine is.
 */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const found = await look();
    if (found) return found;
    await sleep(20);
  }
  assert.fail(`${what} did not happen within ${patienceMs} ms`);
}

/** Repeats a request that is answered 503 because the database is busy, as Retry-After asks for. */
export async function untilNotBusy(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    await sleep(100);
  }
}
