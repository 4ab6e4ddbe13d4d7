import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RequestFailed } from "../../scripts/login/failure.ts";
import { pollUntilApproved } from "../../scripts/login/poll.ts";

const at = "https://ci.example.com";

/**
 * Answers authorization_pending after the given answers. Codes live 100 seconds; the interval is
 * 5.
 */
async function poll(...answers: (string | [code: string, retryAfterSeconds: number])[]) {
  let nowMs = 0;
  let timesAway = 0;
  const paused: number[] = [];
  const end = await pollUntilApproved(
    async () => {
      const answer = answers.shift() ?? "authorization_pending";
      if (answer === "approved") return answer;
      const [code, seconds] = typeof answer === "string" ? [answer, undefined] : answer;
      throw new RequestFailed(code, { at, retryAfterMs: seconds && seconds * 1000 });
    },
    {
      intervalMs: 5000,
      expiresAt: new Date(100_000),
      clock: { now: () => new Date(nowMs) },
      async sleep(ms) {
        nowMs += ms;
        paused.push(ms / 1000);
      },
      onAway: () => timesAway++,
    },
  ).catch((error) => error.code);
  return { end, paused, timesAway };
}

describe("polling for a decision", () => {
  it("waits the interval before each poll, including the first", async () => {
    const { end, paused } = await poll("authorization_pending", "approved");

    assert.deepEqual([end, paused], ["approved", [5, 5]]);
  });

  it("adds 5 seconds permanently with each slow_down", async () => {
    const { paused } = await poll(
      "slow_down",
      "authorization_pending",
      "slow_down",
      "unreachable",
      "approved",
    );

    assert.deepEqual(paused, [5, 10, 10, 15, 30]);
  });

  it("doubles the pause while there is no answer, and returns to the interval after one", async () => {
    const { end, paused, timesAway } = await poll(
      "unreachable",
      "unavailable",
      "authorization_pending",
      "unreachable",
      "approved",
    );

    assert.deepEqual([end, paused, timesAway], ["approved", [5, 10, 20, 5, 10], 2]);
  });

  it("makes the last poll when the codes expire, not later", async () => {
    const { end, paused } = await poll(...Array(9).fill("unreachable"));

    assert.deepEqual([end, paused], ["expired_token", [5, 10, 20, 40, 25]]);
  });

  it("waits for a longer Retry-After", async () => {
    const { end, paused } = await poll(["slow_down", 30], ["unavailable", 1], "approved");

    assert.deepEqual([end, paused], ["approved", [5, 30, 20]]);
  });

  it("ends at once when Retry-After is later than the codes' expiry", async () => {
    const { end, paused } = await poll(["unavailable", 96]);

    assert.deepEqual([end, paused], ["unavailable", [5]]);
  });

  it("ends by its own clock if the server never answers expired_token", async () => {
    const { end, paused } = await poll();

    assert.deepEqual([end, paused.length], ["expired_token", 20]);
  });

  for (const code of ["access_denied", "expired_token", "invalid_grant", "invalid_client", "invalid_scope"]) {
    it(`ends with ${code}`, async () => {
      assert.deepEqual(await poll(code), { end: code, paused: [5], timesAway: 0 });
    });
  }

  it("rethrows an error that is not an answer", async () => {
    const waiting = { intervalMs: 1, expiresAt: new Date(), clock: { now: () => new Date() } };
    const poll = pollUntilApproved(() => Promise.reject(new Error("a bug")), {
      ...waiting,
      sleep: async () => {},
      onAway: () => {},
    });

    await assert.rejects(poll, /a bug/);
  });
});
