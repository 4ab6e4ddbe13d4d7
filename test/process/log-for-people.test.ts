import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { formatForPeople } from "../../shared/process/log-for-people.ts";

const line = (members: object) =>
  `${JSON.stringify({ level: "info", time: "2026-11-22T10:00:00.000Z", process: "ingress", pid: 7, ...members })}\n`;

describe("a log line on a terminal", () => {
  const inColor = formatForPeople({ hasColors: () => true });
  const format = (text: string) => stripVTControlCharacters(inColor(text) ?? "nothing");

  it("is what was requested and answered", () => {
    const request = { requestId: "a", method: "POST", path: "/deliver/sbtr_[redacted]", status: 201 };
    const text = format(line({ ...request, ms: 1.5, ip: "127.0.0.1", msg: "request" }));
    assert.match(text, /^\[\d\d:\d\d:00\] INFO: POST \/deliver\/sbtr_\[redacted\] 201 1\.5 ms$/);
  });

  it("is left out for requests that succeed and are no webhook, unless the level asks for it", () => {
    const page = { method: "GET", path: "/", status: 200, ms: 1, msg: "request" };
    const webhook = { ...page, method: "POST", path: "/deliver/[redacted]", status: 201 };

    for (const each of [page, { ...page, status: 304 }, { ...page, method: "PUT", path: "/v3/jobs/1/start" }])
      assert.equal(inColor(line(each)), undefined);
    for (const each of [
      webhook,
      { ...page, status: 404 },
      { ...page, status: 503 },
      { ...page, msg: "status" },
    ])
      assert.match(format(line(each)), / INFO: /);
    assert.match(formatForPeople({ hasColors: () => false }, "debug")(line(page)) ?? "", /GET \/ 200 1 ms$/);
  });

  it("is the message and its members", () => {
    assert.match(
      format(line({ payloads: 3, msg: "evicted payloads" })),
      /evicted payloads \{"payloads":3\}$/,
    );
  });

  it("has no control character of what a caller sent", () => {
    const odd = 'a\u001b[2J\u009b2J\u202eb\nc"';
    const err = { type: "Error", message: odd, stack: "at one\n at two" };
    const texts = [
      format(line({ method: "GET", path: `/${odd}`, status: 404, ms: 1, msg: "request" })),
      format(line({ name: odd, msg: odd })),
      format(`not JSON: ${odd}`).replace("\n", ""),
    ];
    for (const text of texts) assert.doesNotMatch(text, /[\p{Cc}\p{Cf}]/u, JSON.stringify(text));
    assert.match(texts[0] ?? "", /GET \/a\\u001b\[2J\\u009b2J\\u202eb\\nc" 404/);
    assert.match(format(line({ err, msg: "failed" })), /at one\n +at two/);
  });

  it("stays as it is if it is no JSON", () => {
    assert.equal(format("listening"), "listening");
    assert.equal(format("{ not JSON"), "{ not JSON");
  });

  it("has no color where the terminal has none", () => {
    const plain = formatForPeople({ hasColors: () => false })(line({ msg: "ready" })) ?? "";
    assert.equal(plain, stripVTControlCharacters(plain));
    assert.notEqual(inColor(line({ msg: "ready" })), plain);
  });
});
