import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { LineSplitter } from "../../../shared/agents/logs/lines.ts";
import { type LogLine, LogParser } from "../../../shared/agents/logs/parse.ts";
import { Row } from "../../../shared/agents/logs/row.ts";

/** The lines of a log that comes in pieces. */
function linesOf(...pieces: (string | Buffer)[]): LogLine[] {
  const splitter = new LineSplitter(0);
  const parser = new LogParser();
  const lines: LogLine[] = [];
  let start = 0;
  let number = 0;
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    for (const line of splitter.add({ start, bytes })) {
      parser.write(line, ++number);
      lines.push(...parser.take());
    }
    start += bytes.length;
  }
  for (const line of splitter.flush()) parser.write(line, ++number);
  return [...lines, ...parser.end()];
}

const textOf = ({ texts }: LogLine) => texts.map(({ text }) => text).join("");
const shown = (...pieces: (string | Buffer)[]) => linesOf(...pieces).map(textOf);

describe("lines that are redrawn", () => {
  const cases: Record<string, [log: string, lines: string[]]> = {
    "cursor up and down": ["one\ntwo\nthree\n\x1b[2ATWO\n\x1b[Bfour\n", ["one", "TWO", "three", "four"]],
    "to the first column above and below": ["one\ntwo\nxx\x1b[2FONE\x1b[ETWO\n", ["ONE", "TWO", "xx"]],
    "left and right": ["abcdef\x1b[4DX\x1b[2CY\n", ["abXdeY"]],
    backspace: ["12%\b\b\b34%\nab\b \bc\n", ["34%", "ac"]],
    "a carriage return": ["abcdef\rxy\n", ["xycdef"]],
    "to a column": ["abcdef\x1b[3GX\x1b[GY\n", ["YbXdef"]],
    "erase in the line": ["abcdef\x1b[3D\x1b[K\nabc\x1b[D\x1b[1Kx\nabc\x1b[2Kd\n", ["abc", "  x", "   d"]],
    "erase below": ["a\nb\nc\n\x1b[2A\x1b[0Jd\n", ["a", "d"]],
    "save and restore": ["a\nb\x1b7 more\x1b8!\n\x1b[s\x1b[2Ax\x1b[uy\n", ["x", "b!more", "y"]],
    "wide characters and marks": ["表e\u0301x\x1b[4GY\n✅ a\r❌\n", ["表e\u0301Y", "❌ a"]],
    tabs: ["a\tb\rc\x1b[8CX\n", ["c       bX"]],
    "not above the first line, nor below the last": ["a\n\x1b[9Ab\x1b[9Bc\n", ["b", " c"]],
    "nothing of the history": ["a\x1b[2J\x1b[3J\x1b[H\x1b[5;1Hb\n", ["ab"]],
    "no column far away": ["\x1b[999999999Cx\n\x1b[99999999999G\n", [`${" ".repeat(160)}x`, ""]],
  };
  for (const [name, [log, lines]] of Object.entries(cases))
    it(`show their last state: ${name}`, () => {
      assert.deepEqual(shown(log), lines);
      const bytes = Buffer.from(log);
      for (let at = 1; at < bytes.length; at++)
        assert.deepEqual(shown(bytes.subarray(0, at), bytes.subarray(at)), lines);
    });

  it("keep the number, the place and the time of their first state", () => {
    const log = "\x1b_bk;t=5\x07one\ntwo\n\x1b_bk;t=9\x07\x1b[2AONE\n\nthree\n";
    assert.deepEqual(
      linesOf(log).map((line) => [line.number, line.start, line.time, textOf(line)]),
      [
        [1, 0, 5, "ONE"],
        [2, 13, undefined, "two"],
        [5, log.indexOf("three"), undefined, "three"],
      ],
    );
  });

  it("keep the colors and links of what is not written over", () => {
    const [line] = linesOf("\x1b[31mred\x1b[0m \x1b]8;;http://a.example/\x07link\x1b]8;;\x07\r\x1b[32mR\n");
    assert.deepEqual(
      line?.texts.map(({ text, classes, href }) => [text, classes, href]),
      [
        ["R", "fg2", undefined],
        ["ed", "fg1", undefined],
        [" ", "", undefined],
        ["link", "", "http://a.example/"],
      ],
    );
  });

  it("begin groups by their last state", () => {
    assert.deepEqual(
      linesOf("text\n--- b\n\x1b[2A--- a \n\n").map((line) => [line.group, textOf(line)]),
      [
        ["closed", "a"],
        ["closed", "b"],
      ],
    );
  });

  it("are the last hundred of a log: older ones stay as they are", () => {
    const lines = Array.from({ length: 250 }, (_, index) => `line ${index + 1}\n`);
    const all = shown(`${lines.join("")}\x1b[250Afirst!\n`);
    assert.equal(all.length, 250);
    assert.equal(all[150], "first!51");
  });

  it("may have been recorded of any program", () => {
    const folder = new URL("recorded/", import.meta.url);
    const names = readdirSync(folder).filter((name) => name.endsWith(".raw"));
    assert.ok(names.length >= 5);
    for (const name of names) {
      const expected = readFileSync(new URL(name.replace(".raw", ".txt"), folder), "utf8");
      const lines = shown(readFileSync(new URL(name, folder))).map((line) => line.trimEnd());
      assert.equal(lines.join("\n").trimEnd(), expected.trimEnd(), name);
    }
  });

  it("cost no more than their bytes, whatever the moves", (t) => {
    let cells = 0;
    const { set } = Row.prototype;
    Row.prototype.set = function (...given) {
      cells++;
      return set.apply(this, given);
    };
    t.after(() => {
      Row.prototype.set = set;
    });
    const attacks = {
      "far columns": "\x1b[160Gx\x1b[2K",
      "filled starts": "\x1b[160Gx\x1b[1K",
      "rows above": `\x1b[99A${"y".repeat(50)}\x1b[99B`,
      "long rows": `${"z".repeat(1000)}\x1b[A\r`,
      backspaces: "x\b",
      tabs: "\t\r",
      below: "\n\n\n\x1b[3A\x1b[J",
      restored: "\x1b7xx\x1b8",
    };
    const cellsOf = (attack: string, bytes: number) => {
      cells = 0;
      const lines = `${attack.repeat(Math.floor(1000 / attack.length) || 1)}\n`;
      linesOf(lines.repeat(bytes / lines.length));
      return cells;
    };
    for (const [name, attack] of Object.entries(attacks)) {
      const [once, twice] = [cellsOf(attack, 50_000), cellsOf(attack, 100_000)];
      assert.ok(twice <= 100_000 * 41, `${name}: ${twice} cells`);
      assert.ok(twice <= 2.1 * once + 20_000, `${name}: ${once} cells, then ${twice}`);
    }
  });

  it("do not repeat a link more than a line may be long", () => {
    const link = `https://a.example/${"x".repeat(2000)}`;
    const [line] = linesOf(`\x1b]8;;${link}\x07${"a\x1b[2C".repeat(2500)}\n`);
    const bytes = line?.texts.reduce((sum, { href }) => sum + (href?.length ?? 0), 0) ?? 0;
    assert.ok(bytes > 0 && bytes <= 16 * 1024, String(bytes));
  });
});
