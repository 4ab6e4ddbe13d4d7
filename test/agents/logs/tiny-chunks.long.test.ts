import assert from "node:assert/strict";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import { type LogPage, readPageBefore, readPageFrom } from "../../../shared/agents/logs/page.ts";
import { readBytes } from "../../../shared/agents/logs/read.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { leaseJob, newJob } from "./jobs-with-logs.ts";

const size = 12_000;
const lineLength = 40;

describeWorldOn(sqlite, "a log of single bytes", openApi, (api) => {
  const newLog = async (byteAt: (index: number) => string, tail = "") => {
    const { lease } = await leaseJob(api.world.services, await newJob(api.world.services, api.acme));
    const { jobId } = lease;
    const { db } = api.world.services;
    const bodyOf = (text: string) => Buffer.concat([gzipSync(text), Buffer.from(tail)]);
    const bodies = { x: bodyOf("x"), "\n": bodyOf("\n") };
    const chunks = Array.from({ length: size }, (_, index) => {
      const byte = byteAt(index) as keyof typeof bodies;
      const place = { jobId, attempt: 1, sequence: index, start: index, size: 1, arrivedAt: null };
      return { ...place, lines: byte === "\n" ? 1 : 0, body: bodies[byte] };
    });
    await db.transaction((tx) => tx.insertMany(tx.tables.jobLogChunks, chunks));
    const log = { jobId, attempt: 1, organizationId: api.acme.cluster.organizationId, createdAt: new Date() };
    const sizes = { size, storedBytes: size, droppedBytes: 0, isCounted: false, evictedAt: null };
    return { db, readable: { log: { ...log, ...sizes }, isOpen: true } };
  };
  const lengthOf = ({ start, end }: LogPage) => end - start;

  it("is read a few thousand chunks at a time, from both ends", async () => {
    const { db, readable } = await newLog((index) => (index % lineLength === lineLength - 1 ? "\n" : "x"));

    const last = await readPageBefore(db, readable);
    assert.ok(lengthOf(last) <= 2100, `${lengthOf(last)}`);
    assert.equal(last.lines.at(-1)?.number, size / lineLength);

    let lines = 0;
    for (let from = 0, isLast = false; !isLast; ) {
      const page = await readPageFrom(db, readable, from);
      assert.ok(lengthOf(page) <= 2100, `${lengthOf(page)}`);
      assert.equal(page.lines[0]?.number, lines + 1);
      lines += page.lines.length;
      ({ end: from, isLast } = page);
    }
    assert.equal(lines, size / lineLength);
  });

  it("is downloaded in few pieces, whatever follows the bytes of a chunk", async () => {
    const byteAt = (index: number) => (index % lineLength === lineLength - 1 ? "\n" : "x");
    for (const tail of ["", "\0"]) {
      const { db, readable } = await newLog(byteAt, tail);

      const pieces: Buffer[] = [];
      for await (const piece of readBytes(db, readable)) pieces.push(piece);

      assert.equal(pieces.length, 1);
      const text = Array.from({ length: size }, (_, index) => byteAt(index)).join("");
      assert.equal(String(pieces[0]), text);
    }
  });

  it("may be one line", async () => {
    const { db, readable } = await newLog(() => "x");
    const first = await readPageFrom(db, readable, 0);
    assert.equal(first.isLast, false);
    assert.ok(lengthOf(first) <= 2100, `${lengthOf(first)}`);
    const last = await readPageBefore(db, readable);
    assert.equal(last.lines.length, 1);
  });
});
