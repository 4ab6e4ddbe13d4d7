import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Output } from "../../../scripts/agent/command/output.ts";
import { block } from "../../helpers/clock.ts";

describe("the output of a command", () => {
  it("is read to its end, although the machine had no time for the agent", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-output-"));
    const read: Buffer[] = [];
    const output = await Output.open(folder, async (bytes) => void read.push(bytes));
    const child = spawn("sh", ["-c", "sleep 0.5; echo late"], {
      stdio: ["ignore", output.writeEnd, "ignore"],
    });
    output.closeWriteEnd();
    const exited = once(child, "exit");

    const finishing = output.finish();
    block(1500);
    await finishing;
    await exited;

    assert.equal(Buffer.concat(read).toString(), "late\n");
    rmSync(folder, { recursive: true });
  });
});
