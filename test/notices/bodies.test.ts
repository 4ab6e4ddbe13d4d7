import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { campfireBody, changeEventBody, changeEventsUrl } from "../../shared/notices/bodies.ts";
import { told } from "../messages/told.ts";

/** Events API v2 of PagerDuty: "Send a change event". */
const changeEvent = z.strictObject({
  routing_key: z.string().length(32),
  payload: z.strictObject({
    summary: z.string().min(1).max(1024),
    timestamp: z.iso.datetime(),
    source: z.string().min(1),
    custom_details: z.record(z.string(), z.string()),
  }),
  links: z.array(z.strictObject({ href: z.url(), text: z.string() })),
});
const key = "636d22c0418b3b49eee3e8aaaaaaaaaa";

describe("a change event", () => {
  it("is as PagerDuty takes it", () => {
    assert.equal(changeEventsUrl, "https://events.pagerduty.com/v2/change/enqueue");
    const body = changeEvent.parse(changeEventBody(told(), { key, source: "ci.example.com" }));
    assert.equal(body.payload.summary, "Web #7 failed (main)");
    assert.equal(body.payload.timestamp, "2026-11-28T10:01:05.000Z");
    assert.deepEqual(body.links, [{ href: "https://ci.example.com/acme/web/builds/7", text: "Build 7" }]);
  });

  it("has a short summary, whatever the names", () => {
    const long = "é".repeat(10_000);
    changeEvent.parse(
      changeEventBody(told({ pipeline: long, branch: long, message: long, author: long }), {
        key,
        source: "ci",
      }),
    );
  });
});

describe("a line for Basecamp", () => {
  it("has no markup of names and messages", () => {
    const { content } = campfireBody(told({ pipeline: "<img src=x>", branch: "\"'", message: "<script>" }));
    assert.doesNotMatch(content, /<img|<script/);
    assert.match(content, /&lt;img src=x&gt; #7/);
  });

  it("tells of a step", () => {
    const step = { name: "Lint", url: "https://ci.example.com/x#1", outcome: "failing" } as const;
    assert.match(
      campfireBody({ ...told(), step }).content,
      /^<b><a href="[^"]+#1">Lint<\/a> of <a .*Web #7<\/a><\/b> is failing/,
    );
  });
});
