import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { DatabaseUnavailable } from "../../shared/db/database.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { putSharedValue } from "../../shared/db/shared-values-store.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-full-log-"));
const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]);
const skip = status !== 0 && "a small disk cannot be mounted";
const megabyte = 1024 * 1024;

describe("a disk that the log of SQLite has filled", { skip }, () => {
  after(() => {
    spawnSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  it("takes more writes than it has room for, once it has a little", async () => {
    const filler = join(folder, "filler");
    const url = `file:${join(folder, "a.db")}`;
    await migrate(url);
    writeFileSync(filler, Buffer.alloc(megabyte));
    const db = openDatabase({ url, poolSize: 1, timeoutMs: 10_000, onError: () => {} });
    const write = () =>
      db.transaction((tx) => putSharedValue(tx, "a", randomBytes(megabyte / 32).toString("hex")));
    const writeUntilFull = async () => {
      for (;;) await write();
    };
    try {
      await assert.rejects(writeUntilFull(), DatabaseUnavailable);

      rmSync(filler);
      for (let writes = 0; writes < 100; writes++) await write();
    } finally {
      await db.close();
    }
  });
});
