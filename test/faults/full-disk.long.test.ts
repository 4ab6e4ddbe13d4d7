import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { eventually } from "../helpers/http.ts";

/** Not copied: processes find what is compiled already. */
const linked = ["Procfile", "package.json", "ingress", "workers", "shared", "scripts", "node_modules"];
const folder = mkdtempSync(join(tmpdir(), "signalbox-full-"));
const data = join(folder, "data");
const filler = join(data, "filler");

mkdirSync(data);
const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", data]);
const skip = status !== 0 && "a small disk cannot be mounted";

/** Leaves no room. */
function fill(): void {
  for (const bytes of [1024 * 1024, 4096]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: "a" });
    } catch {} // ENOSPC
  }
}

describe("npm start on a full disk", { skip }, () => {
  after(() => {
    spawnSync("umount", [data]);
    rmSync(folder, { recursive: true, force: true });
  });

  it("waits for room, and recovers by itself when a disk that filled up has room again", async () => {
    for (const name of linked) symlinkSync(resolve(name), join(folder, name));
    fill();
    const npm = spawn("npm", ["start"], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        PORT: "0",
        TSX_TSCONFIG_PATH: resolve("tsconfig.json"),
        REDIS_URL: process.env.TEST_REDIS_URL,
        REDIS_PREFIX: `full-${process.pid}`,
      },
    });
    let output = "";
    for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (chunk) => (output += chunk));
    const ready = () =>
      fetch(/http:\S+\/readyz/.exec(output)?.[0] ?? "").then(
        (answer) => answer.status,
        () => 0,
      );

    await eventually("the wait for room", async () => output.includes("The disk is full"));
    rmSync(filler);
    await eventually("the start", async () => output.includes("Signalbox is running"));
    assert.equal(await ready(), 200);
    fill();
    rmSync(filler);
    await eventually("the recovery", async () => (await ready()) === 200);

    const closed = once(npm, "close");
    npm.kill("SIGTERM");
    await closed;
  });
});
