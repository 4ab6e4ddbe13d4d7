import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { describe, it } from "node:test";

const program = `
  import { openLog } from "./shared/services/log.ts";
  const { log, close } = openLog({ level: "info", process: "test" });
  process.stdin.once("data", (count) => {
    for (let line = 1; line <= Number(count); line++) log.info({ line }, "a line");
    close();
    process.exit(7);
  });
  process.stderr.write("ready");
`;

function startLogging(stdout: "pipe" | number) {
  const args = ["--import", "tsx", "--input-type=module", "--eval", program];
  const child = spawn(process.execPath, args, { stdio: ["pipe", stdout, "pipe"] });
  const ready = once(child.stderr as NodeJS.ReadableStream, "data");
  return { child, ready };
}

describe("the log", () => {
  it("writes every line, whole and in order", async () => {
    const { child, ready } = startLogging("pipe");
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk) => chunks.push(chunk));
    await ready;

    child.stdin?.write("500");
    const [code] = await once(child, "close");

    const lines = Buffer.concat(chunks).toString().trim().split("\n");
    assert.equal(code, 7);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).line),
      Array.from({ length: 500 }, (_, index) => index + 1),
    );
  });

  for (const count of [1, 500]) {
    it(`continues when its reader has gone (${count} lines)`, async () => {
      const { child, ready } = startLogging("pipe");
      await ready;

      child.stdout?.destroy();
      child.stdin?.write(String(count));
      const [code] = await once(child, "close");

      assert.equal(code, 7);
    });

    const skip = process.platform !== "linux" && "there is no /dev/full";
    it(`continues when the disk is full (${count} lines)`, { skip }, async () => {
      const { child, ready } = startLogging(openSync("/dev/full", "w"));
      await ready;

      child.stdin?.write(String(count));
      const [code] = await once(child, "close");

      assert.equal(code, 7);
    });
  }
});
