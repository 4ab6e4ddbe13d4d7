import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CallFailed, isRetryable } from "../../../scripts/agent/wire/client.ts";
import { retry, waits } from "../../../scripts/agent/wire/retry.ts";

const failure = (status: number) => new CallFailed("no", { status, headers: new Headers() });

describe("the agent's retries", () => {
  const count = async (error: unknown, waitsMs: number[]) => {
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      throw error;
    };
    await assert.rejects(retry(attempt, { waitsMs, isRetryable }), (thrown) => thrown === error);
    return attempts;
  };

  it("follow network errors, 429 and 5xx, and no other 4xx", async () => {
    const attempts = [];
    for (const error of [new CallFailed("lost"), failure(429), failure(503), failure(422), failure(401)])
      attempts.push(await count(error, [0, 0]));

    assert.deepEqual(attempts, [3, 3, 3, 1, 1]);
  });

  it("end when the agent is stopped", async () => {
    const stop = new AbortController();
    const attempt = async () => {
      stop.abort();
      throw failure(503);
    };

    await assert.rejects(retry(attempt, { waitsMs: [60_000], isRetryable, signal: stop.signal }), {
      name: "AbortError",
    });
  });

  it("have the schedules of the public agent, but register and connect sooner and for five minutes", () => {
    const seconds = (schedule: number[]) => schedule.map((ms) => ms / 1000);

    assert.deepEqual(seconds(waits.start), [1, 2, 4, 8, 16, 32]);
    assert.deepEqual(seconds(waits.patient), [1, 1, 2, 3, 5, ...Array<number>(28).fill(10)]);
    assert.deepEqual(seconds(waits.finish), [1, 2, 4, 8, 16, 32, 64, 120, 120, 120, 120]);
  });
});
