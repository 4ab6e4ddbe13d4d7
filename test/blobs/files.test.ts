import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { artifactBlob, BlobsUnavailable, NoRoomForBlob } from "../../shared/blobs/blobs.ts";
import { openFiles } from "../../shared/blobs/files/files.ts";
import { hourMs } from "../../shared/durations.ts";
import { chunks, expect, itIsAStore, newName } from "./contract.ts";

describe("a store of files", () => {
  const scratch = mkdtempSync(join(tmpdir(), "signalbox-blobs-"));
  after(() => rmSync(scratch, { recursive: true }));
  const root = join(scratch, "a", "b");
  const unfinished = join(root, "unfinished");
  const open = () => openFiles(root);
  const bytes = randomBytes(150_000);

  it("makes no folder before the first blob", async () => {
    const blobs = open();

    assert.deepEqual(await blobs.list({}), { names: [], next: undefined });
    assert.equal(await blobs.find(newName()), undefined);
    await blobs.delete([newName()]);
    await blobs.discardUnfinished({ now: new Date(), findAwaited: async () => new Set() });

    assert.equal(existsSync(root), false);
  });

  itIsAStore(open);

  it("syncs the folders of blobs that come meanwhile at once", async ({ mock }) => {
    const blobs = open();
    const names = Array.from({ length: 4 }, (_, folder) =>
      artifactBlob(`${randomUUID().slice(0, -2)}0${folder}`),
    );
    for (const folder of [unfinished, ...names.map((name) => join(root, dirname(name)))])
      mkdirSync(folder, { recursive: true }); // new folders would be synced, too
    await using handle = await openFile(scratch, "r");
    let running = 0;
    let most = 0;
    mock.method(Object.getPrototypeOf(handle), "sync", async function (this: FileHandle) {
      if (!(await this.stat()).isDirectory()) return;
      most = Math.max(most, ++running);
      while (!names.every((name) => existsSync(join(root, name)))) await setImmediate();
      for (let turn = 0; turn < 10_000 && running < 2; turn++) await setImmediate();
      running--;
    });

    await Promise.all(names.map((name) => blobs.write(name, chunks(bytes), expect(bytes))));

    assert.ok(most >= 2);
  });

  it("leaves no unfinished file, however a write ends", () => {
    assert.deepEqual(readdirSync(unfinished), []);
  });

  it("lists names of many folders in pages of a thousand", async () => {
    const many = join(scratch, "many");
    const names = Array.from({ length: 2300 }, newName).sort();
    for (const name of names) {
      mkdirSync(join(many, dirname(name)), { recursive: true });
      writeFileSync(join(many, name), "");
    }
    const blobs = openFiles(many);

    const pages: string[][] = [];
    for (let after: string | undefined; pages.length < 9; ) {
      const page = await blobs.list({ after });
      pages.push(page.names);
      after = page.next;
      if (after === undefined) break;
    }

    assert.deepEqual(
      pages.map(({ length }) => length),
      [1000, 1000, 300],
    );
    assert.deepEqual(pages.flat(), names);
  });

  it("keeps the file of an upload that goes on, and removes one that nothing was written to for an hour", async () => {
    const blobs = open();
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* slow() {
      yield bytes.subarray(0, 70_000);
      begun.resolve();
      await ended.promise;
      yield bytes.subarray(70_000);
    }
    const discard = () => blobs.discardUnfinished({ now: new Date(), findAwaited: async () => new Set() });
    const writing = blobs.write(newName(), slow(), expect(bytes));
    await begun.promise;

    assert.equal(await discard(), 0);
    const [file = assert.fail()] = readdirSync(unfinished);
    const longAgo = new Date(Date.now() - hourMs - 1000);
    utimesSync(join(unfinished, file), longAgo, longAgo);
    assert.equal(await discard(), 1);

    assert.deepEqual(readdirSync(unfinished), []);
    ended.resolve();
    await assert.rejects(writing, BlobsUnavailable); // its file is gone
  });

  it("refuses what the disk has no room for, before it reads the content", async () => {
    let isRead = false;
    async function* content() {
      isRead = true;
      yield bytes;
    }

    await assert.rejects(
      open().write(newName(), content(), { ...expect(bytes), bytes: 2 ** 52 }),
      NoRoomForBlob,
    );

    assert.equal(isRead, false);
  });

  it("has room for others beside uploads that say they are large, and send little", async () => {
    const [{ bsize, bavail }, ended] = [statfsSync(scratch), Promise.withResolvers<void>()];
    async function* content() {
      yield bytes;
      await ended.promise;
    }
    const blobs = open();
    const large = { ...expect(bytes), bytes: Math.floor((bavail * bsize) / 3) };

    const slow = [1, 2, 3, 4].map(() => blobs.write(newName(), content(), large));
    const other = blobs.write(newName(), chunks(bytes), expect(bytes));

    assert.equal(await other, undefined);
    ended.resolve();
    assert.deepEqual(await Promise.all(slow), ["size", "size", "size", "size"]);
  });

  it("ends a download whose file became shorter with an error", async () => {
    const [blobs, name] = [open(), newName()];
    await blobs.write(name, chunks(bytes), expect(bytes));
    const found = (await blobs.read(name)) ?? assert.fail();
    truncateSync(join(root, name), 10);

    await assert.rejects(async () => {
      for await (const _ of found.pieces) await setImmediate();
    }, BlobsUnavailable);
  });

  it("gives a blob whole that is deleted while it is read", async () => {
    const [blobs, name] = [open(), newName()];
    await blobs.write(name, chunks(bytes), expect(bytes));
    const { pieces } = (await blobs.read(name)) ?? assert.fail();
    const parts = [(await pieces.next()).value];
    await blobs.delete([name]);

    for await (const piece of pieces) parts.push(piece);

    assert.deepEqual(Buffer.concat(parts), bytes);
  });

  it("is unavailable when its folder cannot be made", async () => {
    const blobs = openFiles("/proc/none/blobs");

    await assert.rejects(blobs.write(newName(), chunks(bytes), expect(bytes)), BlobsUnavailable);
  });
});
