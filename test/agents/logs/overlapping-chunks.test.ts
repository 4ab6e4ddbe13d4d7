import assert from "node:assert/strict";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import { readPageBefore } from "../../../shared/agents/logs/page.ts";
import { readBytes, readLog } from "../../../shared/agents/logs/read.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { leaseJob, newJob } from "./jobs-with-logs.ts";

const chunkBytes = 102_400;
const chunks = 300;
const size = chunkBytes + chunks - 1;

/** As releases stored them that kept bytes twice. */
describeWorld("a log of chunks that bring one byte each", openApi, (api) => {
  const newLog = async () => {
    const { db } = api.world.services;
    const { lease } = await leaseJob(api.world.services, await newJob(api.world.services, api.acme));
    const { jobId, organizationId } = lease;
    const body = gzipSync(Buffer.alloc(chunkBytes, "a"));
    const stored = Array.from({ length: chunks }, (_, start) => {
      return { jobId, attempt: 1, sequence: start, start, size: chunkBytes, lines: 0, body };
    });
    await db.transaction((tx) => tx.insertMany(tx.tables.jobLogChunks, stored));
    const sizes = { size, storedBytes: size, droppedBytes: 0, isCounted: false, evictedAt: null };
    const log = { jobId, attempt: 1, organizationId, createdAt: new Date(), ...sizes };
    return { db, readable: { log, isOpen: false } };
  };

  it("is read in pieces that keep no more than their bytes in memory", async () => {
    const { db, readable } = await newLog();

    const buffers = new Set<ArrayBufferLike>();
    let bytesRead = 0;
    for await (const { bytes } of readLog(db, readable)) {
      buffers.add(bytes.buffer);
      bytesRead += bytes.length;
    }

    assert.equal(bytesRead, size);
    const kept = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
    assert.ok(kept < (chunks * chunkBytes) / 4, `${kept}`);
  });

  it("is shown and downloaded whole", async () => {
    const { db, readable } = await newLog();

    let text = "";
    for await (const piece of readBytes(db, readable)) text += piece;
    const page = await readPageBefore(db, readable);

    assert.equal(text, "a".repeat(size));
    assert.deepEqual([page.lines.length, page.lines[0]?.end], [1, size]);
  });
});
