import fc from "fast-check";
import { seldom } from "./fuzz.ts";
import { oddSegment, oddText } from "./odd-text.ts";

export interface RawInput {
  bytes: Buffer;
  /** Ids of the requests in it, in order. An answer echoes that of its request. */
  ids: string[];
  /** Id of a request that stands where a body must be: an answer to it is smuggling. */
  smuggled?: string;
}

/** Requests as bytes. */
interface Written {
  text: string;
  id: string;
  smuggled?: string;
}

let sent = 0;

export function rawInputs(targets: string[]): fc.Arbitrary<RawInput> {
  const wellFormed = wellFormedRequest(targets);
  const one = fc.oneof(
    { weight: 5, arbitrary: wellFormed },
    { weight: 5, arbitrary: mutated(wellFormed) },
    { weight: 4, arbitrary: smuggling(targets) },
    { weight: 3, arbitrary: oddLine },
    { weight: 2, arbitrary: oddHeader },
  );
  return fc.oneof(
    { weight: 12, arbitrary: one.map((each) => toInput([each])) },
    { weight: 5, arbitrary: fc.array(wellFormed, { minLength: 2, maxLength: 8 }).map(toInput) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.array(wellFormed, { maxLength: 4 }), one)
        .map(([many, last]) => toInput([...many, last])),
    },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ minLength: 1, maxLength: 300 })
        .map((bytes) => ({ bytes: Buffer.from(bytes), ids: [] })),
    },
  );
}

function toInput(requests: Written[]): RawInput {
  const smuggled = requests.find((each) => each.smuggled)?.smuggled;
  return {
    bytes: Buffer.from(requests.map(({ text }) => text).join(""), "latin1"),
    ids: requests.map(({ id }) => id),
    ...(smuggled ? { smuggled } : {}),
  };
}

/** Ids are unique, so that answers of different runs are never confused. */
function nextId(): string {
  return `raw-${++sent}`;
}

function write(method: string, target: string, lines: string[], body = ""): Written {
  const id = nextId();
  const head = [`${method} ${target} HTTP/1.1`, "Host: localhost", `X-Request-Id: ${id}`, ...lines, "", ""];
  return { text: head.join("\r\n") + body, id };
}

const bodies = fc.constantFrom("{}", '{"a":1}', "", "x".repeat(5000), "a=1&b=2", "\0\xff");

function wellFormedRequest(targets: string[]): fc.Arbitrary<Written> {
  const read = fc.constantFrom(...targets).map((target) => write("GET", target, []));
  const sized = fc
    .tuple(fc.constantFrom(...targets), bodies)
    .map(([target, body]) =>
      write("POST", target, ["Content-Type: application/json", `Content-Length: ${body.length}`], body),
    );
  const chunked = fc
    .tuple(fc.constantFrom(...targets), fc.array(bodies, { maxLength: 4 }))
    .map(([target, parts]) => write("POST", target, ["Transfer-Encoding: chunked"], chunks(parts)));
  return fc.oneof(read, sized, chunked);
}

function chunks(parts: string[]): string {
  return [...parts.filter(Boolean), ""].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
}

/** A piece cut out, doubled, or replaced by an odd one. */
function mutated(requests: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  const odd = fc.constantFrom(
    "\0",
    "\n",
    "\r",
    "\r\n\r\n",
    " ",
    "\t",
    ":",
    "\x7f",
    "\xff",
    "%",
    "\x16\x03\x01",
    "\n ",
    "-1",
  );
  return fc
    .tuple(
      requests,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.nat(20),
      seldom(fc.constant(""), odd, 3),
    )
    .map(([{ text, id }, share, length, piece]) => {
      const at = Math.floor(text.length * share);
      return { id, text: text.slice(0, at) + piece + text.slice(at + (piece === "" ? length : 0)) };
    });
}

/** RFC 9112 §6.3 and §11.2: a proxy and this server could see different ends of these requests. */
const framings: ((length: number) => string[])[] = [
  (length) => [`Content-Length: ${length}`, "Transfer-Encoding: chunked"],
  (length) => ["Transfer-Encoding: chunked", `Content-Length: ${length}`],
  (length) => [`Content-Length: ${length}`, "Content-Length: 5"],
  (length) => [`Content-Length: 5, ${length}`],
  (length) => [`Content-Length: +${length}`],
  (length) => [`Content-Length: ${length} `, "Content-Length: 0"],
  (length) => [`Content-Length: -${length}`],
  (length) => [`Content-Length: 0x${length.toString(16)}`],
  (length) => [`Content-Length: ${length}_0`],
  () => ["Content-Length: 99999999999999999999"],
  () => ["Transfer-Encoding: chunked, identity"],
  () => ["Transfer-Encoding: identity, chunked", "Content-Length: 5"],
  () => ["Transfer-Encoding: xchunked"],
  () => ["Transfer-Encoding:\x0bchunked"],
  () => ["Transfer-Encoding : chunked"],
  () => ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
  () => ["Transfer-Encoding:\r\n chunked"],
  () => ["X: y\nTransfer-Encoding: chunked"],
  () => ["Content-Length : 5"],
  () => ["Content\0-Length: 5"],
];
const chunkings = [
  (inner: string) => `0\r\n\r\n${inner}`,
  (inner: string) => `5\r\nhello\r\n0\r\n\r\n${inner}`,
  (inner: string) => `5;${"x".repeat(40)}\r\nhello\r\n0\r\n\r\n${inner}`,
  (inner: string) => `5\nhello\n0\n\n${inner}`,
  (inner: string) => `-1\r\nhello\r\n${inner}`,
  (inner: string) => `0x5\r\nhello\r\n0\r\n\r\n${inner}`,
  (inner: string) => `ffffffffffffffffff\r\nhello\r\n${inner}`,
  (inner: string) => `5\r\nhelloX0\r\n\r\n${inner}`,
  (inner: string) => `5 \r\nhello\r\n0\r\n\r\n${inner}`,
  (inner: string) => `0\r\nX-Trailer: a\nb\r\n\r\n${inner}`,
  (inner: string) => inner,
];

function smuggling(targets: string[]): fc.Arbitrary<Written> {
  return fc
    .tuple(fc.constantFrom(...targets), fc.constantFrom(...framings), fc.constantFrom(...chunkings))
    .map(([target, framing, chunking]) => {
      const inner = write("GET", "/healthz", []);
      const body = chunking(inner.text);
      return { ...write("POST", target, framing(body.length), body), smuggled: inner.id };
    });
}

const oddLine: fc.Arbitrary<Written> = fc
  .tuple(
    fc.constantFrom(
      "GET",
      "get",
      "POST",
      "PRI",
      "CONNECT",
      "TRACE",
      "OPTIONS",
      "G\0T",
      "X".repeat(500),
      "",
      "QUERY",
    ),
    fc.oneof(
      fc.constantFrom(
        "/",
        "*",
        "",
        "http://evil.example/healthz",
        "//evil.example/",
        "localhost:80",
        "/\xff",
        "/a b",
      ),
      fc.constantFrom(
        `/${"x".repeat(9000)}`,
        `/${"x".repeat(17_000)}`,
        "/?".concat("a=1&".repeat(2000)),
        "/#a",
        "\\",
        "/..",
      ),
      oddSegment.map((segment) => `/v2/${segment}`),
    ),
    fc.constantFrom(
      "HTTP/1.1",
      "HTTP/1.0",
      "HTTP/0.9",
      "HTTP/2.0",
      "HTTP/3",
      "HTTP/1.1 ",
      "http/1.1",
      "",
      "HTTP/11",
    ),
    fc.constantFrom("\r\n", "\n", "\r", "\r\r\n"),
  )
  .map(([method, target, version, end]) => {
    const id = nextId();
    return {
      id,
      text: [`${method} ${target} ${version}`, "Host: localhost", `X-Request-Id: ${id}`, "", ""].join(end),
    };
  });

const oddHeader: fc.Arbitrary<Written> = fc
  .oneof(
    fc.constantFrom(
      ...[
        "Host: other.example",
        "Host:",
        "Host: a b",
        "Upgrade: h2c",
        "Connection: upgrade\r\nUpgrade: websocket",
      ],
      ...[
        "Expect: 100-continue",
        "Expect: x",
        "Connection: close, keep-alive",
        "Connection: Host",
        "Connection: \0",
      ],
      ...[
        " leading: space",
        "no colon",
        ": no name",
        "a\tb: c",
        "Cookie: signalbox=x; signalbox=y",
        "Cookie: =;;=",
      ],
      ...[
        `X: ${"x".repeat(17_000)}`,
        "x: y\r\n".repeat(900).trimEnd(),
        "X: a\r\n b",
        "HTTP2-Settings: AAMAAABkAAQAAP__",
      ],
      ...[
        "X-Forwarded-For: \xff",
        "Keep-Alive: timeout=99999",
        "Content-Length: 3",
        "Trailer: Content-Length",
      ],
    ),
    oddText.map((text) => `X: ${Buffer.from(text).toString("latin1").slice(0, 2000)}`),
  )
  .map((line) => write("GET", "/healthz", [line]));
