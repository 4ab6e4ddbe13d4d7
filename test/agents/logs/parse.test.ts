import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { countLineFeeds, LineSplitter } from "../../../shared/agents/logs/lines.ts";
import { type LogLine, LogParser } from "../../../shared/agents/logs/parse.ts";

/** Parses a log that comes in pieces. */
function parse(...pieces: (string | Buffer)[]): LogLine[] {
  const splitter = new LineSplitter(0);
  const parser = new LogParser();
  let start = 0;
  const raw = pieces.flatMap((piece) => {
    const bytes = Buffer.from(piece);
    const lines = [...splitter.add({ start, bytes })];
    start += bytes.length;
    return lines;
  });
  for (const [index, line] of [...raw, ...splitter.flush()].entries()) parser.write(line, index + 1);
  return parser.end();
}

const textOf = ({ texts }: LogLine) => texts.map(({ text }) => text).join("");
const textsOf = (...pieces: (string | Buffer)[]) => parse(...pieces).map(textOf);
const colorsOf = (line: LogLine | undefined) =>
  line?.texts.map(({ text, classes }) => (classes ? `${classes}:${text}` : text));

describe("the lines of a log", () => {
  it("may be split anywhere, even in a character or an escape sequence", () => {
    const bytes = Buffer.from("über\r\n\x1b[31mröt\x1b[0m\n");

    for (let at = 1; at < bytes.length; at++) {
      const lines = parse(bytes.subarray(0, at), bytes.subarray(at));
      assert.deepEqual(lines.map(colorsOf), [["über"], ["fg1:röt"]]);
    }
  });

  it("are counted by their line feeds, wherever their bytes lie in memory", () => {
    const nearLineFeed = fc.constantFrom(0x0a, 0x0b, 0x09, 0x0d, 0x00, 0x7f, 0x80, 0x8a, 0xff);
    const anyBytes = fc.array(nearLineFeed, { maxLength: 40 });
    fc.assert(
      fc.property(anyBytes, fc.nat(8), (bytes, start) => {
        const some = Buffer.from([...bytes]).subarray(start);
        assert.equal(countLineFeeds(some), some.filter((byte) => byte === 0x0a).length);
      }),
    );
  });

  it("keep their colors until these are reset, in the next line too", () => {
    const [first, second, third] = parse("a\x1b[1;32mb\n", "c\x1b[md\n", "\x1b[44me\x1b[49mf");

    assert.deepEqual(colorsOf(first), ["a", "bold fg2:b"]);
    assert.deepEqual(colorsOf(second), ["bold fg2:c", "d"]);
    assert.deepEqual(colorsOf(third), ["bg4:e", "f"]);
  });

  it("have the nearest of 16 colors", () => {
    const [line] = parse("\x1b[38;5;196ma\x1b[38;2;0;200;5mb\x1b[38:2::90:90:250mc\x1b[38;5;244md");
    assert.deepEqual(colorsOf(line), ["fg9:a", "fg2:b", "fg12:c", "fg8:d"]);
  });

  it("hide the agent's marks of time, and have the first one's", () => {
    const [line] = parse(
      "\x1b_bk;t=1795307277902\x07\x1b[90m$ make\x1b[0m\x1b_bk;t=1795307277999\x07 all\r\n",
    );
    assert.equal(line?.time, 1795307277902);
    assert.equal(line && textOf(line), "$ make all");
  });

  it("are overwritten after a carriage return, as progress is", () => {
    assert.deepEqual(
      textsOf("10%\r20%\r100%\r\n", "a\rb", "\n", "50%\x1b[2K\x1b[1G60%\n", "70%\r\x1b[0m\n"),
      ["100%", "b", "60%", "70%"],
    );
    assert.deepEqual(colorsOf(parse("\x1b[31m1%\r2%\n")[0]), ["fg1:2%"]);
  });

  it("show the text of links and pictures that come in one sequence", () => {
    const shown = (sequence: string) =>
      parse(`see ${sequence}.\n`)[0]?.texts.map(({ text, href }) => [text, href]);

    for (const end of ["\x07", "\x1b\\"])
      assert.deepEqual(shown(`\x1b]1339;url='https://a.example/x;y';content="it\\"s \\'here'"${end}`), [
        ["see ", undefined],
        [`it"s 'here'`, "https://a.example/x;y"],
        [".", undefined],
      ]);
    assert.deepEqual(shown("\x1b]1339;url=http://a.example;content=Build 7\x07")?.[1], [
      "Build 7",
      "http://a.example/",
    ]);
    assert.deepEqual(shown("\x1b]1339;url=http://a.example/b\x07")?.[1], [
      "http://a.example/b",
      "http://a.example/b",
    ]);
    assert.deepEqual(shown("\x1b]1339;url=javascript:x();content=text\x07"), [["see text.", undefined]]);
    assert.deepEqual(shown("\x1b]1338;url='artifact://a b.png';alt='A picture';width=100%\x07"), [
      ["see A picture.", undefined],
    ]);
    assert.deepEqual(shown("\x1b]1338;url='artifact://a.png'\x07"), [["see artifact://a.png.", undefined]]);
    assert.deepEqual(colorsOf(parse("\x1b[31m\x1b]1339;url=http://a.example;content=red\x07")[0]), [
      "fg1:red",
    ]);
  });

  it("take about as long for a link without attributes as for other text", () => {
    const line = `\x1b]1339;${"a".repeat(15_000)}\x07\n`;
    const begun = process.cpuUsage();
    parse(...Array.from({ length: 10 }, () => line));
    const { user } = process.cpuUsage(begun);
    assert.ok(user < 300_000, `${user} µs of CPU`);
  });

  it("drop other control characters and sequences", () => {
    const noise = "\x1b]0;title\x07\x1b[2J\x1b[10;3H\x1bP+q\x1b\\\x1b(B\x00\x7f\u009b31m\x1b[?25l";
    assert.deepEqual(textsOf(`a${noise}b\tc\n`), ["a31mb\tc"]);
    assert.deepEqual(textsOf("open \x1b]8;; never closed\n", "\x1b"), ["open 8;; never closed", ""]);
  });

  it("show broken UTF-8 as replacement characters", () => {
    assert.deepEqual(textsOf(Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0xed, 0xa0, 0x80])), [
      "a\ufffd\ufffd",
      "\ufffd\ufffd\ufffd",
    ]);
  });

  it("link to http and https only", () => {
    const link = (address: string) => parse(`\x1b]8;;${address}\x07text\x1b]8;;\x1b\\ after\n`)[0];

    assert.deepEqual(
      link("https://example.com/a?b=%22")?.texts.map(({ text, href }) => [text, href]),
      [
        ["text", "https://example.com/a?b=%22"],
        [" after", undefined],
      ],
    );
    for (const address of [
      "javascript:alert(1)",
      "data:text/html,x",
      "/path",
      "JAVASCRIPT:x",
      "java\tscript:x",
    ])
      assert.deepEqual(
        link(address)?.texts.every(({ href }) => href === undefined),
        true,
        address,
      );
  });

  it("begin groups, and open the one before", () => {
    const groups = parse("--- a\n+++ b\n\x1b[33m~~~ c\n---no\n ^^^\n^^^ +++\n").map(
      ({ group, opensGroup, ...line }) => [textOf(line as LogLine), group, opensGroup],
    );

    assert.deepEqual(groups, [
      ["a", "closed", false],
      ["b", "open", false],
      ["c", "dim", false],
      ["---no", undefined, false],
      [" ^^^", undefined, false],
      ["^^^ +++", undefined, true],
    ]);
  });

  it("are cut when they are too long, but keep the end of a long progress line", () => {
    const [long, next] = parse("x".repeat(40_000), "y".repeat(40_000), "\nnext\n");
    const [progress] = parse(...Array.from({ length: 2000 }, (_, index) => `\r${index} of 2000 done`), "\n");

    assert.equal(long?.isCut, true);
    assert.equal(long && textOf(long).length, 16 * 1024);
    assert.equal(next && textOf(next), "next");
    assert.deepEqual([progress?.isCut, progress && textOf(progress)], [false, "1999 of 2000 done"]);
  });

  it("take any bytes", () => {
    let state = 7;
    const random = () => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return state;
    };
    const alphabet = [
      "\x1b",
      "[",
      "]",
      "8;;",
      "m",
      "31",
      ";",
      "\r",
      "\n",
      "\x07",
      "<script>",
      "\xc3",
      "--- ",
      "_bk;t=9",
    ];
    for (let run = 0; run < 300; run++) {
      const bytes = Buffer.from(
        Array.from({ length: 60 }, () => alphabet[random() % alphabet.length]).join(""),
        "latin1",
      );
      const whole = parse(bytes).map(colorsOf);
      const at = random() % bytes.length;
      assert.deepEqual(parse(bytes.subarray(0, at), bytes.subarray(at)).map(colorsOf), whole);
    }
  });
});
