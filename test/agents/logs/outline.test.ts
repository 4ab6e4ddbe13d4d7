import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readOutline, readOutlineOfEnd } from "../../../shared/agents/logs/outline/outline.ts";
import { LogScan } from "../../../shared/agents/logs/outline/scan.ts";
import type { ReadableLog } from "../../../shared/agents/logs/read.ts";
import { findLog } from "../../../shared/agents/logs/store.ts";
import { presentOwner, runFor } from "../../../shared/sharing/owner.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { leaseJob, newJob } from "./jobs-with-logs.ts";

const at = (second: number) => `\x1b_bk;t=${1_700_000_000_000 + second * 1000}\x07`;
const red = (text: string) => `\x1b[31m${text}\x1b[0m`;

function scan(text: string, { needle = "", piece = 7 } = {}): LogScan {
  const made = new LogScan(needle);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += piece) made.add(bytes.subarray(from, from + piece));
  made.end();
  return made;
}

describe("the outline of a log", () => {
  it("has its groups with their times and first red lines, whatever the pieces", () => {
    const log = [
      `${at(1)}~~~ Preparing`,
      `${at(2)}\x1b[32m# ok\x1b[0m`,
      `${at(3)}+++ Tests 🚨`,
      `${at(4)}fine`,
      `${at(5)}${red("broken")}`,
      `${at(6)}${red("again")}`,
      `${at(7)}--- Uploading`,
      `${at(9)}done`,
    ].join("\r\n");

    for (const piece of [1, 7, 1000]) {
      const { groups, reds, failedAt, lastGroup, firstTime, lastTime, lines } = scan(log, { piece });
      assert.deepEqual(
        groups.map(({ number, title, firstRed }) => [number, title, firstRed]),
        [
          [1, "Preparing", undefined],
          [3, "Tests 🚨", 5],
          [7, "Uploading", undefined],
        ],
      );
      assert.deepEqual([reds, failedAt, lastGroup, lines], [[5], 5, 7, 8]);
      assert.equal((lastTime ?? 0) - (firstTime ?? 0), 8000);
    }
  });

  it("takes the times of arrivals while the agent sends none", () => {
    const made = new LogScan("");
    made.add(Buffer.from("--- One\na\n--- Tw"), 1000);
    made.add(Buffer.from("o\nb\n"), 3000);
    assert.deepEqual(
      [made.groups.map(({ time }) => time), made.firstTime, made.lastTime, made.isByArrival],
      [[1000, 1000], 1000, 3000, true],
    );

    made.add(Buffer.from(`${at(1)}--- Three\nc\n`), 5000);
    assert.deepEqual(
      [made.groups.map(({ time }) => time), made.firstTime, made.isByArrival],
      [[undefined, undefined, 1_700_000_001_000], 1_700_000_001_000, false],
      "two clocks are not mixed",
    );
  });

  it("knows red in all its forms, until it ends", () => {
    const reds = (text: string) => scan(text).reds;
    for (const color of ["31", "91", "1;31", "0;31", "38;5;1", "38;5;196", "38;2;200;10;10", "4;38:5:9"])
      assert.deepEqual(reds(`a\n\x1b[${color}mb\x1b[0m\nc\n`), [2], color);
    for (const color of ["32", "41", "38;5;2", "48;5;1", "31;39", "31;0", "38;2;10;10;200"])
      assert.deepEqual(reds(`a\n\x1b[${color}mb\x1b[0m\nc\n`), [], color);
    assert.deepEqual(reds("\x1b[31ma\nb\n\nc\x1b[m\nd\n"), [1, 4], "it lasts, and blanks are not seen");
    assert.deepEqual(reds("\x1b[31m\x1b[0mnothing\n"), []);
    assert.deepEqual(
      reds("\x1b[31m10%\rdone\n\x1b[31m10%\r\x1b[0mdone\n"),
      [1],
      "it lasts behind what is overwritten",
    );
  });

  it("finds words as they are seen: in capitals, across colors, after what is written over", () => {
    const hits = (text: string, needle: string) => scan(text, { needle }).hits;
    assert.deepEqual(hits("Error one\nno\nan \x1b[1merr\x1b[0mor\n", "ERROR"), [1, 3]);
    assert.deepEqual(hits("10%\r50%\rdone\r\n", "50%"), []);
    assert.deepEqual(hits("10%\r50%\rdone\r\n", "done"), [1]);
    assert.deepEqual(hits(`${at(1)}x\n`, "bk;t"), [], "a time is no text");
    assert.deepEqual(hits("\x1b]8;;https://example.com\x07link\x1b]8;;\x07\n", "example"), []);
    assert.deepEqual(hits("\x1b(B\x1b[mone\x1b(B two\n", "one two"), [1]);
    assert.deepEqual(hits("naïve\nZoë\n", "zoË"), [2]);
  });

  it("keeps the first of many lines, and says so", () => {
    const { hits, hasMoreHits, groups, lastGroup } = scan("--- x\n".repeat(5000), {
      needle: "x",
      piece: 999,
    });
    assert.deepEqual([hits.length, hasMoreHits, groups.length, lastGroup], [1000, true, 300, 5000]);
  });

  it("counts a line of a megabyte once", () => {
    const { hits, lines } = scan(`${"a".repeat(1_000_000)} end\nend\n`, { needle: "end", piece: 4096 });
    assert.deepEqual([hits, lines], [[2], 2], "of a long line only the beginning is shown");
  });
});

describeWorld("outlines that are read from the store", openApi, (api) => {
  const logged = async (text: string, isOpen = false) => {
    const { services } = api.world;
    const made = await newJob(services, api.acme);
    const job = await leaseJob(services, made);
    await job.log(text, 20_000);
    if (!isOpen) await job.finish();
    const stored = async (): Promise<ReadableLog> => {
      const log = await findLog(services.db, job.lease);
      assert.ok(log);
      return { log, isOpen };
    };
    return { ...job, stored, db: services.db };
  };

  it("read a part at a time, and go on where they stopped", async () => {
    const line = "a line of a log that is long\n";
    const { stored, db } = await logged(`${line.repeat(5000)}needle\n`);
    const readable = await stored();
    const options = { needle: "Needle", maxBytes: 50_000 };

    const first = await readOutline(db, readable, options);
    assert.deepEqual([first.isWhole, first.hits], [false, []]);
    assert.ok(first.bytes >= 50_000 && first.bytes <= 70_000, String(first.bytes));
    let last = first;
    for (let reads = 0; !last.isWhole && reads < 5; reads++) last = await readOutline(db, readable, options);
    assert.deepEqual([last.isWhole, last.hits, last.lines], [true, [5001], 5001]);
  });

  it("grow with the log", async () => {
    const { stored, send, db } = await logged("+++ One\n", true);
    assert.equal((await readOutline(db, await stored(), { maxBytes: 1000 })).groups.length, 1);
    await send(2, 8, `+++ Two\n${red("no")}\nincompl`);
    const grown = await readOutline(db, await stored(), { maxBytes: 1000 });
    assert.deepEqual([grown.groups.length, grown.failedAt, grown.lines], [2, 3, 3]);
  });

  it("of the end of a large log count from its beginning", async () => {
    const before = `+++ Early\n${red("early")}\n`;
    const { stored, db } = await logged(`${before}${"x".repeat(99)}\n`.repeat(25_000) + red("late"));
    const { failedAt, lines } = await readOutlineOfEnd(db, await stored());
    assert.deepEqual([failedAt, lines], [74_999, 75_001]);
  });

  it("read at most 16 KB of an organization in a turn of the event loop", async (t) => {
    const made = await Promise.all(
      Array.from({ length: 4 }, () => logged(`${red("x")} and more of a line\n`.repeat(8000))),
    );
    const logs = await Promise.all(made.map(({ stored }) => stored()));
    const crowd = `crowd of ${api.acme.id}`;
    let inThisTurn = 0;
    let most = 0;
    const { add } = LogScan.prototype;
    t.mock.method(LogScan.prototype, "add", function (this: LogScan, piece: Buffer) {
      // Tests of the other database run in this process.
      if (presentOwner() !== crowd) return add.call(this, piece);
      if (inThisTurn === 0)
        setImmediate(() => {
          inThisTurn = 0;
        });
      inThisTurn += piece.length;
      most = Math.max(most, inThisTurn);
      return add.call(this, piece);
    });

    const { db } = api.world.services;
    await Promise.all(logs.map((log) => runFor(crowd, () => readOutline(db, log, { maxBytes: 1e9 }))));

    // The next slice may begin in the turn in which the last one ends.
    assert.ok(most <= 2 * 16 * 1024, `${most} bytes in one turn of the event loop`);
  });
});
