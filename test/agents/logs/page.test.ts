import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { it } from "node:test";
import { logDocument } from "../../../ingress/logs/document.tsx";
import {
  type LogPage,
  readPageBefore,
  readPageFrom,
  readPageOfLine,
} from "../../../shared/agents/logs/page.ts";
import { LogParser } from "../../../shared/agents/logs/parse.ts";
import { readBytes } from "../../../shared/agents/logs/read.ts";
import { findLog } from "../../../shared/agents/logs/store.ts";
import { presentOwner, runFor } from "../../../shared/sharing/owner.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { leaseJob, newJob } from "./jobs-with-logs.ts";

const maxPageBytes = 256 * 1024;

describeWorld("the pages of a log", openApi, (api) => {
  const logged = async (text: string | Buffer, chunkBytes = 30_000, isOpen = false) => {
    const job = await leaseJob(api.world.services, await newJob(api.world.services, api.acme));
    await job.log(text, chunkBytes);
    const { db } = api.world.services;
    const readable = async () => {
      const log = await findLog(db, job.lease);
      assert.ok(log);
      return { log, isOpen };
    };
    return {
      ...job,
      stored: readable,
      from: async (start: number) => readPageFrom(db, await readable(), start),
      ofLine: async (number: number) => readPageOfLine(db, await readable(), number),
      before: async (end?: number) => readPageBefore(db, await readable(), end),
    };
  };
  const textsOf = ({ lines }: LogPage) =>
    lines.map(({ number, texts }) => `${number} ${texts.map(({ text }) => text).join("")}`);
  const numbered = (amount: number) => Array.from({ length: amount }, (_, index) => `line ${index + 1}\n`);

  it("have of each line the time at which its first byte arrived", async () => {
    const { send, from, ofLine, before } = await logged("");
    const { clock, services } = api.world;
    const begun = clock.now().getTime();
    const pieces = ["one\ntw", "o\nthr", "ee\nfour\n"];
    let start = 0;
    for (const [index, piece] of pieces.entries()) {
      await send(index + 1, start, piece);
      start += piece.length;
      clock.advance(60_000);
    }
    const minutes = ({ lines }: LogPage) =>
      lines.map(({ arrivedAt }) => arrivedAt && Math.floor((arrivedAt - begun) / 60_000));

    assert.deepEqual(minutes(await from(0)), [0, 0, 1, 2]);
    assert.deepEqual(minutes(await from("one\n".length)), [0, 1, 2], "a page that begins within a chunk");
    assert.deepEqual(minutes(await ofLine(4)).slice(-1), [2]);
    assert.deepEqual(minutes(await before("one\ntwo\n".length)), [0, 0]);

    const { jobLogChunks } = services.db.tables;
    await services.db.transaction((tx) => tx.update(jobLogChunks).set({ arrivedAt: null }));
    assert.deepEqual(minutes(await from(0)), [undefined, undefined, undefined, undefined], "stored before");
  });

  it("have each line once, with its number, forwards and backwards", async () => {
    const lines = numbered(20_000);
    const expected = lines.map((line, index) => `${index + 1} ${line.trim()}`);
    const { from, before } = await logged(lines.join(""));

    const forwards: string[] = [];
    for (let start = 0; ; ) {
      const page = await from(start);
      forwards.push(...textsOf(page));
      if (page.isLast) break;
      assert.ok(page.end - page.start <= maxPageBytes);
      start = page.end;
    }
    const backwards: string[] = [];
    for (let page = await before(); ; page = await before(page.start)) {
      backwards.unshift(...textsOf(page));
      if (page.start === 0) break;
    }

    assert.deepEqual(forwards, expected);
    assert.deepEqual(backwards, expected);
  });

  it("are found by a line, with few lines before it, wherever chunks end", async () => {
    const lines = numbered(20_000);
    for (const chunkBytes of [7, 1000, 100_000]) {
      const { ofLine } = await logged(lines.slice(0, chunkBytes === 7 ? 2000 : 20_000).join(""), chunkBytes);
      for (const number of [1, 2, 999, 1000, 1001, 1999, ...(chunkBytes === 7 ? [] : [13_351, 20_000])]) {
        const shown = textsOf(await ofLine(number));
        const place = shown.indexOf(`${number} line ${number}`);
        assert.ok(place >= 0 && place <= 10, `line ${number} is at ${place}`);
      }
      const last = await ofLine(20_001);
      assert.ok(last.isLast && last.lines.length > 0);
    }
    const long = await logged(`short\n${"x".repeat(200_000)}\n`.repeat(8), 100_000);
    for (const number of [3, 8, 15, 16]) {
      const [first, second] = (await long.ofLine(number)).lines;
      assert.ok([first?.number, second?.number].includes(number), String(number));
    }
  });

  it("keep the colors of the lines before", async () => {
    const lines = ["\x1b[31mred\n", ...numbered(9000)];
    const { from } = await logged(lines.join(""));
    const first = await from(0);
    const second = await from(Buffer.byteLength(lines.slice(0, 500).join("")));

    assert.ok(!first.isLast);
    assert.equal(second.lines[0]?.number, 501);
    assert.equal(second.lines[0]?.texts[0]?.classes, "fg1");
  });

  it("end in the middle of a line that is too long, and go on", async () => {
    const { from } = await logged(Buffer.alloc(1_000_000, "x"), 100_000);
    let pages = 0;
    for (let start = 0; ; pages++) {
      const page = await from(start);
      assert.ok(page.lines.length > 0);
      if (page.isLast) break;
      assert.ok(page.end > start);
      start = page.end;
    }
    assert.ok(pages >= 2 && pages < 10);
  });

  it("show the incomplete last line of a log that grows again, once it has more", async () => {
    const { send, before, from } = await logged("one\ntw", 100, true);
    const first = await before();
    await send(2, 6, "o\nthree\n");
    const next = await from(first.end);

    assert.deepEqual(textsOf(first), ["1 one", "2 tw"]);
    assert.equal(first.lines[1]?.isComplete, false);
    assert.deepEqual(textsOf(next), ["2 two", "3 three"]);
    assert.deepEqual(textsOf(await from(next.end)), []);
  });

  it("begin with the first line that their bytes redraw", async () => {
    const { send, before, from } = await logged("a\nb\nc\n\x1b[2AB\n", 100, true);
    const first = await before();
    await send(2, 12, "C\n\x1b[2A\x1b[Jd\n\x1b[1Ae");
    const next = await from(first.end);

    assert.deepEqual(textsOf(first), ["1 a", "2 B", "3 c"]);
    assert.deepEqual(textsOf(next), ["2 e"]);
    assert.deepEqual(textsOf(await before()), ["1 a", "2 e"]);
    await send(3, 28, "f\ng\n");
    assert.deepEqual(textsOf(await from(next.end)), ["2 ef", "8 g"]);
  });

  it("show the last state of lines across chunks, forwards and backwards, within their bounds", async () => {
    const frame = (step: number) =>
      `\x1b[3A${[1, 2, 3].map((part) => `part ${part}: ${step}\x1b[K\n`).join("")}`;
    const frames = Array.from({ length: 8000 }, (_, index) => frame(index + 1)).join("");
    const log = `begin\n\n\n\n${frames}end\n`;
    const { from, before, ofLine } = await logged(log, 977);
    const last = ["part 1: 8000", "part 2: 8000", "part 3: 8000", "end"];
    const withoutNumbers = (page: LogPage) => textsOf(page).map((line) => line.replace(/^\d+ /, ""));

    assert.deepEqual(withoutNumbers(await before()).slice(-4), last);
    const first = await from(0);
    assert.equal(textsOf(first)[0], "1 begin");
    assert.ok(!first.isLast && first.end > 200_000, "frames cost a page only what it shows of them");
    let page = first;
    while (!page.isLast) page = await from(page.end);
    assert.deepEqual(withoutNumbers(page), last);
    assert.deepEqual(withoutNumbers(await ofLine(24_005)).at(-1), "end");
  });

  it("show the same lines as the log's document, and its file keeps every byte", async () => {
    const log = "a\nb\n\x1b[2A\x1b[32mA\x1b[0m\n\x1b]1339;url=https://a.example;content=text\x07\ndone\n";
    const { from, stored } = await logged(log, 5);
    const bytes = await buffer(readBytes(api.world.services.db, await stored()));
    const html = await buffer(logDocument(api.world.services.db, await stored()));

    const lines = String(html)
      .replace(/<title>.*<pre>\n|<[^>]*>/gs, "")
      .trimEnd()
      .split("\n");
    assert.deepEqual(lines, ["A", "text", "done"]);
    assert.deepEqual(textsOf(await from(0)), ["1 A", "2 text", "5 done"]);
    assert.equal(String(bytes), log);
  });

  it("are short in HTML, whatever the lines", async () => {
    const { from } = await logged("<\x1b[31m&\x1b[0m>\n".repeat(30_000), 100_000);
    const page = await from(0);
    assert.ok(page.lines.length < 2000, String(page.lines.length));
  });

  it("stop before a gap while the job runs, and name it afterwards", async () => {
    const { send, before, from } = await logged("one\n", 100, true);
    await send(3, 10, "three\n");

    assert.deepEqual(textsOf(await before()), ["1 one"]);
    assert.deepEqual(textsOf(await from(0)), ["1 one"]);
  });

  it("are parsed in several turns of the event loop", async (t) => {
    const colors = "\x1b[31m\x1b[0m".repeat(200);
    const { before } = await logged(`${colors}x\n`.repeat(150), 100_000);
    let turn = 0;
    const turns = new Set<number>();
    const { write } = LogParser.prototype;
    t.mock.method(
      LogParser.prototype,
      "write",
      function (this: LogParser, ...given: Parameters<typeof write>) {
        turns.add(turn);
        return write.apply(this, given);
      },
    );
    const counter = setInterval(() => turn++, 1);

    const { lines } = await before();

    clearInterval(counter);
    assert.equal(lines.length > 0, true);
    assert.ok(turns.size >= 6, `${turns.size} turns`);
  });

  it("of one organization are parsed in turns of 16 KB, and those of others come in between", async (t) => {
    const log = `${"\x1b[31mx\x1b[0my".repeat(100)}\n`.repeat(60);
    const { before } = await logged(log, 100_000);
    let inThisTurn = 0;
    let most = 0;
    const { write } = LogParser.prototype;
    t.mock.method(
      LogParser.prototype,
      "write",
      function (this: LogParser, ...given: Parameters<typeof write>) {
        // The tests of the other database run meanwhile.
        if (presentOwner() === undefined) return write.apply(this, given);
        if (inThisTurn === 0)
          setImmediate(() => {
            inThisTurn = 0;
          });
        inThisTurn += given[0].bytes.length;
        most = Math.max(most, inThisTurn);
        return write.apply(this, given);
      },
    );
    const done: string[] = [];
    const read = (owner: string) => runFor(owner, () => before().then(() => done.push(owner)));

    await Promise.all(Array.from({ length: 8 }, () => read("crowd")));
    const alone = most;
    await Promise.all([...Array.from({ length: 8 }, () => read("crowd")), read("other")]);

    // The next slice may begin in the turn in which the last one ends.
    assert.ok(alone <= 2 * 16 * 1024, `${alone} bytes in one turn of the event loop`);
    assert.ok(done.lastIndexOf("other") < done.length - 4, done.join());
  });
});
