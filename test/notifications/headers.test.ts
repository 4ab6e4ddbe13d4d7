import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { webhookHeaders } from "../../shared/notifications/headers.ts";

const request = {
  event: "build.finished",
  id: "0198c0de-0000-7000-8000-000000000001",
  body: '{"event":"build.finished","build":{"message":"Grüße 🚀\\n"}}',
  token: "correct-horse",
  now: new Date("2026-01-31T12:00:00.999Z"),
};

describe("the headers of a webhook", () => {
  it("name the event, the request and the token", () => {
    assert.deepEqual(webhookHeaders({ ...request, mode: "token" }), {
      "Content-Type": "application/json",
      "X-Buildkite-Event": "build.finished",
      "X-Buildkite-Request": request.id,
      "X-Buildkite-Token": "correct-horse",
    });
  });

  it("sign the time in seconds and the bytes of the body, without the token", () => {
    const headers = webhookHeaders({ ...request, mode: "signature" });
    const timestamp = Date.parse("2026-01-31T12:00:00Z") / 1000;
    const signed = createHmac("sha256", "correct-horse")
      .update(`${timestamp}.`)
      .update(Buffer.from(request.body));
    assert.equal(
      headers["X-Buildkite-Signature"],
      `timestamp=${timestamp},signature=${signed.digest("hex")}`,
    );
    assert.equal(headers["X-Buildkite-Token"], undefined);
  });
});
