import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { NoRoomForBlob } from "../../shared/blobs/blobs.ts";
import { openFiles } from "../../shared/blobs/files/files.ts";
import { hourMs } from "../../shared/durations.ts";
import { eventually } from "../helpers/http.ts";
import { run } from "../helpers/processes.ts";
import { chunks, expect, newName, readAll } from "./contract.ts";

const scratch = mkdtempSync(join(tmpdir(), "signalbox-blob-faults-"));
after(() => rmSync(scratch, { recursive: true }));
const bytes = randomBytes(4_000_000);

describe("a store of files whose writer is killed", () => {
  it("has the former content, and an hour later nothing of the new", async () => {
    const [root, name] = [join(scratch, "killed"), newName()];
    const blobs = openFiles(root);
    await blobs.write(name, chunks(bytes), expect(bytes));
    const discardAt = (now: number) =>
      blobs.discardUnfinished({ now: new Date(now), findAwaited: async () => new Set() });

    const writer = run(["test/blobs/write-slowly.ts", root, name], {});
    await eventually("a write", async () => writer.output().includes("writing"));
    const ended = once(writer.process, "exit");
    writer.process.kill("SIGKILL");
    await ended;

    assert.deepEqual((await readAll(blobs, name)).content, bytes);
    assert.deepEqual((await blobs.list({})).names, [name]);
    assert.equal(readdirSync(join(root, "unfinished")).length, 1);
    assert.equal(await discardAt(Date.now()), 0);
    assert.equal(await discardAt(Date.now() + hourMs + 60_000), 1);
    assert.deepEqual(readdirSync(join(root, "unfinished")), []);
  });
});

const disk = join(scratch, "disk");
mkdirSync(disk);
const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=20m", "none", disk]).status === 0;
const skip = isMounted ? false : "mounting needs root";
if (skip && process.env.TEST_REQUIRE === "all") throw new Error(skip);

describe("a store of files on a disk that is full", { skip }, () => {
  const filler = join(disk, "filler");
  const fill = () => {
    for (const size of [1024 * 1024, 4096]) {
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
      } catch {} // ENOSPC
    }
  };
  const root = join(disk, "blobs");
  const blobs = openFiles(root);
  const name = newName();
  before(() => mkdirSync(root));
  after(() => spawnSync("umount", ["--lazy", disk]));

  it("has no room when the disk fills up in the middle, and keeps what it had", async () => {
    await blobs.write(name, chunks(bytes), expect(bytes));
    const other = randomBytes(4_000_000);
    async function* fillsUp() {
      yield* chunks(other.subarray(0, 1_000_000));
      fill();
      yield* chunks(other.subarray(1_000_000));
    }

    await assert.rejects(blobs.write(name, fillsUp(), expect(other)), NoRoomForBlob);

    assert.deepEqual((await readAll(blobs, name)).content, bytes);
    assert.deepEqual(readdirSync(join(root, "unfinished")), []);
    await assert.rejects(blobs.write(newName(), chunks(other), expect(other)), NoRoomForBlob);
  });

  it("takes the same content once there is room", async () => {
    rmSync(filler, { force: true });

    assert.equal(await blobs.write(newName(), chunks(bytes), expect(bytes)), undefined);
  });

  it("leaves a part of the disk to others", async () => {
    // Of 21 MB 8 are stored: 13 are free, of which one stays so.
    const much = Buffer.alloc(12_500_000);

    await assert.rejects(blobs.write(newName(), chunks(much), expect(much)), NoRoomForBlob);
  });
});
