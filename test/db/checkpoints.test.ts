import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import Client from "better-sqlite3";
import type { doCheckpointTask } from "../../shared/db/sqlite/checkpoint-task.ts";
import { type Checkpoints, openCheckpoints } from "../../shared/db/sqlite/checkpoints.ts";
import { Threads } from "../../shared/process/threads.ts";
import { eventually } from "../helpers/http.ts";

const megabyte = 1024 * 1024;

describe("the log of a SQLite file", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-log-"));
  const file = join(folder, "a.db");
  let client: Client.Database;
  const thread = new Threads({ max: 1 });
  const inThread = thread.wrap<typeof doCheckpointTask>(
    new URL("../../shared/db/sqlite/checkpoint-task.ts", import.meta.url),
    "doCheckpointTask",
  );
  let checkpoints: Checkpoints;
  const size = () => statSync(file).size;
  const write = (bytes: number) => client.prepare("INSERT INTO blobs VALUES (zeroblob(?))").run(bytes);

  before(() => {
    client = new Client(file);
    client.pragma("journal_mode = WAL");
    client.exec("CREATE TABLE blobs (bytes BLOB)");
    checkpoints = openCheckpoints(client, { file, inThread, onSyncFailed: assert.fail });
  });
  after(async () => {
    await thread.close();
    client.close();
    rmSync(folder, { recursive: true });
  });

  it("is not copied by COMMIT", () => {
    write(20 * megabyte);

    assert.ok(size() < megabyte, `${size()} bytes`);
  });

  it("is copied by a thread once it is long", async () => {
    checkpoints.startIfDue();

    await eventually("a complete copy", async () => {
      const [state] = client.pragma("wal_checkpoint(NOOP)") as { log: number; checkpointed: number }[];
      return state?.log === state?.checkpointed;
    });
    assert.ok(size() > 20 * megabyte, `${size()} bytes`);
  });

  it("begins again once all of it is copied", () => {
    const log = () => statSync(`${file}-wal`).size;
    const longest = log();

    write(10 * megabyte);

    assert.equal(log(), longest);
  });

  it("is copied before the next commit once the disk was full, however short it is", async () => {
    write(megabyte);
    const before = size();
    assert.equal(checkpoints.untilShort(), undefined);

    // The copy of the former test may not have ended yet.
    await eventually("a copy", async () => {
      checkpoints.diskIsFull();
      await checkpoints.untilShort();
      return size() > before;
    });

    assert.equal(checkpoints.untilShort(), undefined);
  });

  it("lets the next commit wait for the thread when it is very long", async () => {
    write(70 * megabyte);
    assert.equal(checkpoints.untilShort(), undefined);

    await eventually("a count of its pages", async () => {
      checkpoints.startIfDue(); // counts every 20 ms
      return checkpoints.untilShort() !== undefined;
    });
    await checkpoints.untilShort();

    assert.ok(size() > 90 * megabyte, `${size()} bytes`);
  });
});
