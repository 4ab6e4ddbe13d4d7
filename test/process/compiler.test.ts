import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Prints its child processes before and after, zombies included. */
const program = `
  import { execFileSync } from "node:child_process";
  import { endCompiler } from "./shared/process/compiler.ts";
  const children = () =>
    execFileSync("ps", ["-A", "-o", "ppid=,comm="], { encoding: "utf8" })
      .split("\\n")
      .map((line) => line.trim().split(/\\s+/))
      .filter(([parent, name]) => parent === String(process.pid) && name !== "ps")
      .length;
  const before = children();
  endCompiler();
  const after = children();
  await import("./shared/durations.ts?compiled-later");
  console.log(JSON.stringify({ before, after }));
`;

describe("endCompiler", () => {
  const emptyCache = mkdtempSync(join(tmpdir(), "signalbox-compiler-"));
  after(() => rmSync(emptyCache, { recursive: true, force: true }));

  const start = async (): Promise<{ before: number; after: number }> => {
    const args = ["--import", "tsx", "--input-type=module", "--eval", program];
    const { stdout } = await run(process.execPath, args, { env: { ...process.env, TMPDIR: emptyCache } });
    return JSON.parse(stdout);
  };

  it("ends the process that compiled modules, leaves no zombie, and starts it again", async () => {
    const { before, after } = await start();
    assert.deepEqual({ before, after }, { before: 1, after: 0 });
  });

  it("does nothing if all modules were in the cache of tsx", async () => {
    const { before, after } = await start();
    assert.deepEqual({ before, after }, { before: 0, after: 0 });
  });
});
