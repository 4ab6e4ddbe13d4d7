import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { oddText } from "./odd-text.ts";

export const oddType = fc.constantFrom(
  ...[
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "application/xml",
  ],
  ...[
    "multipart/form-data; boundary=x",
    "application/json;charset",
    "application/vnd.a+json",
    "APPLICATION/JSON",
  ],
  ...[
    "application/json, text/html",
    "json",
    ";",
    `application/json; x="${"y".repeat(4000)}"`,
    "a/b/c",
    "*/*",
  ],
);

export const encoding = fc.constantFrom<(body: Buffer) => { body: Buffer; headers: Record<string, string> }>(
  (body) => ({ body: gzipSync(body), headers: { "content-encoding": "gzip" } }),
  (body) => ({ body: deflateSync(body), headers: { "content-encoding": "deflate" } }),
  (body) => ({ body, headers: { "content-encoding": "gzip, gzip, br" } }),
  (body) => ({ body, headers: { "content-encoding": "identity" } }),
  (body) => ({ body, headers: { "content-encoding": "" } }),
);

const latin1 = oddText.map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "").slice(0, 4000));
export const oddHeaders = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        ...[
          "x-request-id",
          "x-forwarded-for",
          "user-agent",
          "accept",
          "accept-encoding",
          "idempotency-key",
          "cookie",
        ],
        ...[
          "origin",
          "if-none-match",
          "range",
          "x-http-method-override",
          "x-github-event",
          "x-github-delivery",
        ],
        ...[
          "x-hub-signature-256",
          "linear-signature",
          "linear-delivery",
          "forwarded",
          "x-forwarded-host",
          "__proto__",
        ],
        ...["x-forwarded-proto", "expect", "accept-language", "date", "te", "prefer"],
      ),
      latin1,
    )
    .map(([name, value]): Record<string, string> => ({ [name]: value })),
  fc
    .constantFrom(
      ...[
        "10.0.0.1:8080",
        "[2001:db8::1]:443",
        "2001:db8::1",
        "unknown",
        "1.2.3.4, , 5.6.7.8",
        "999.1.1.1",
        ",",
      ],
      ...["::ffff:10.0.0.1", "1.2.3.4,".repeat(500), "fe80::1%eth0", "_hidden", "127.0.0.1, 127.0.0.1"],
    )
    .map((value): Record<string, string> => ({ "x-forwarded-for": value })),
  fc.constantFrom<Record<string, string>>(
    { "x-large": "x".repeat(15_000) },
    { "x-large": "x".repeat(20_000) },
    Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x-${index}`, "y"])),
    { "idempotency-key": "k".repeat(256) },
    { "idempotency-key": "one key" },
    { "x-hub-signature-256": `sha256=${"0".repeat(64)}` },
  ),
);
