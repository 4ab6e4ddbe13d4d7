import fc from "fast-check";

const prototypeNames = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "toJSON",
  "hasOwnProperty",
  "then",
];

/** Text that breaks careless code: NUL, lone surrogates, text of two directions, names of prototypes. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...prototypeNames) },
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      ...["", " ", "\t", "\r\n", "\0", "a\0b", "\ufeff", "\u200b", "\u202egnp.exe", "\u2066a\u2069"],
      ...["\ud800", "\udc00\ud800", "a\ud83d", "🚦", "e\u0301".repeat(50), "İ", "ß", "\u{10ffff}", "\ufffe"],
      ...["null", "undefined", "NaN", "true", "0", "-0", "-1", "1e400", "0x10", "9007199254740993"],
      ...["'", '"', "`", "\\", "%00", "%", "{{7*7}}", "<script>alert(1)</script>", "' OR '1'='1"],
      ...["../../etc/passwd", "/", ".", "..", "//example.com", "javascript:alert(1)", "\u001b[2J"],
    ),
  },
  { weight: 4, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 3, arbitrary: fc.constantFrom(1, 100, 101, 255, 256, 2001).map((length) => "x".repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom("é", "🚦", "x").map((unit) => unit.repeat(20_000)) },
);

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

/** JSON text, because a value has no duplicate member, no `1e400` and no nesting beyond the stack. */
export const oddJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: oddText.map((text) => JSON.stringify(text)) },
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      ...["null", "true", "false", "0", "-0", "-1", "1.5", "1e308", "1e400", "9007199254740993", "[]", "{}"],
      ...[`${"9".repeat(400)}`, `0.${"1".repeat(400)}`, '{"a":1,"a":2}', '{"__proto__":{"isAdmin":true}}'],
      ...[
        '{"toString":1,"valueOf":1}',
        '{"length":3,"0":"a"}',
        '{"then":1}',
        '[[[[[[["a"]]]]]]]',
        '"\\ud800"',
      ],
      ...['"\\u0000"', "[null]", '[{"command":null}]', '{"":""}'],
    ),
  },
  { weight: 3, arbitrary: fc.json({ maxDepth: 4 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      nested("[", "]", 20_000),
      nested('{"a":', "}", 5_000).replace(":}", ":1}"),
      `[${"1,".repeat(20_000)}1]`,
      `{${Array.from({ length: 5_000 }, (_, index) => `"m${index}":1`).join(",")}}`,
    ),
  },
);

/** No JSON, or no object. */
export const noJson: fc.Arbitrary<string> = fc.constantFrom(
  ...[
    "",
    " ",
    "{",
    "}",
    "[1]",
    "1",
    '"a"',
    "null",
    "{a:1}",
    "{'a':1}",
    '{"a":1,}',
    '{"a":1}{"b":2}',
    "\ufeff{}",
  ],
  ...['{"a":\u0000}', '{"a":"\n"}', "NaN", '{"a":01}', "a=1&b=2", "<a/>", "//\n{}"],
);

/** A path segment or a query's value as it is on the wire. */
export const oddSegment: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      "",
      "%",
      "%zz",
      "%0",
      "%00",
      "%2e%2e",
      "%2f",
      "%5c",
      "%c0%af",
      "%ff",
      "%ed%a0%80",
      "%u0041",
      "%25",
      "%25zz",
    ],
    ...[
      "..",
      ".",
      ";",
      "*",
      ":id",
      "**",
      "+",
      "%20",
      "%0d%0aX-Injected:1",
      "a,b",
      "\u00e9",
      "%e2%80%ae",
      "~",
    ],
    ...["0", "-1", "1e3", "00001", "1.0", "99999999999999999999", "x".repeat(3000), "%41".repeat(1000)],
  ),
  oddText.map((text) => encodeURIComponent(text.toWellFormed())).filter((text) => text.length < 8000),
);
