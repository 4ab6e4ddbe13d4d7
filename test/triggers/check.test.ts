import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type BodyCheckOptions, openBodyCheck } from "../../shared/triggers/deliveries/check.ts";
import { decodeBody } from "../../shared/triggers/payloads/codec.ts";

const large = Buffer.from(JSON.stringify(Array.from({ length: 400_000 }, (_, index) => index % 10)));
const small = Buffer.from("[1]");

/** A copy: the check takes it away. */
const held = (body: Buffer) => ({ bytes: Buffer.concat([body]) });

function open(options: Partial<BodyCheckOptions> = {}) {
  const check = openBodyCheck({ maxDepth: 5, ...options });
  const done: string[] = [];
  return {
    done,
    check: (owner: string, body: Buffer, signal = new AbortController().signal) =>
      check(owner, held(body), { signal })
        .then(() => "ok")
        .catch((error) => `${error.status ?? error.name} ${error.refusalCause ?? ""}`.trim())
        .then((outcome) => {
          done.push(owner);
          return outcome;
        }),
  };
}

describe("the check of a body", () => {
  it("returns the body as it is stored", async () => {
    for (const body of [small, large]) {
      const check = openBodyCheck({ maxDepth: 5 });
      const encoded = await check("a", held(body), new AbortController());
      assert.deepEqual(await decodeBody(encoded), body);
    }
  });

  it("refuses what is not JSON, small or large", async () => {
    const { check } = open();
    assert.equal(await check("a", Buffer.from("[")), "400 invalid_json");
    assert.equal(await check("a", large.subarray(0, -1)), "400 invalid_json");
    assert.equal(await check("a", Buffer.from("[[[[[[1]]]]]]")), "400 too_deep");
  });

  it("takes JSON away that it accepts, and gives back what a refusal shows or a signature covers", async () => {
    const check = openBodyCheck({ maxDepth: 5 });
    const cut = large.subarray(0, -1);
    const form = Buffer.from(`payload=${encodeURIComponent(large.toString())}`);
    const { signal } = new AbortController();
    const [sound, refused, signed] = [held(large), held(cut), held(form)];

    await check("a", sound, { signal });
    await assert.rejects(check("a", refused, { signal }), { refusalCause: "invalid_json" });
    const encoded = await check("a", signed, { signal }, "form");

    assert.equal(sound.bytes.length, 0);
    assert.ok(refused.bytes.equals(cut));
    assert.ok(signed.bytes.equals(form));
    assert.deepEqual(await decodeBody(encoded), large);
  });

  it("keeps a body that waits for its turn", async () => {
    const check = openBodyCheck({ maxDepth: 5, maxWaitMs: 0 });
    const { signal } = new AbortController();
    const bodies = Array.from({ length: 9 }, () => held(large));

    const outcomes = await Promise.allSettled(bodies.map((body) => check("a", body, { signal })));

    const late = bodies.filter((_, index) => outcomes[index]?.status === "rejected");
    assert.ok(late.length > 0);
    for (const { bytes } of late) assert.ok(bytes.equals(large));
  });

  it("does not read the signal of a small body, nor make it wait", async () => {
    const { check, done } = open();
    const first = Array.from({ length: 5 }, () => check("a", large));
    const request = {
      get signal(): AbortSignal {
        throw new Error("read");
      },
    };
    await openBodyCheck({ maxDepth: 5 })("a", held(small), request);
    await check("b", small);
    assert.deepEqual(done, ["b"]);
    await Promise.all(first);
  });

  it("goes round the organizations", async () => {
    const { check, done } = open();
    await Promise.all(["w", "x", "y", "z"].map((owner) => check(owner, large))); // the threads have started
    done.length = 0;
    const waiting = Array.from({ length: 8 }, () => check("a", large));
    await Promise.all([check("b", large), ...waiting]);
    assert.ok(done.indexOf("b") <= 3, done.join());
  });

  it("answers 503 after the deadline, and gives up when its caller disconnects", async () => {
    const { check } = open({ maxWaitMs: 0 });
    const gone = new AbortController();
    const running = ["c", "d"].map((owner) => check(owner, large));
    const waiting = [check("c", large), check("c", large, gone.signal)];
    gone.abort();
    assert.deepEqual(await Promise.all(waiting), ["503 busy", "AbortError"]);
    assert.deepEqual(await Promise.all(running), ["ok", "ok"]);
  });
});
