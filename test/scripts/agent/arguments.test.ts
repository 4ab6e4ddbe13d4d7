import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { runAgent } from "../../../scripts/agent/run.ts";

async function run(args: string[], env: Record<string, string> = {}) {
  let output = "";
  const write = (text: string) => {
    output += text;
  };
  const { signal } = new AbortController();
  const terminal = { env, stdin: Readable.from([]), write, writeError: write, onStart: () => {} };
  const exitCode = await runAgent(args, { ...terminal, stop: { afterJob: signal, now: signal } });
  return { exitCode, output };
}

describe("the arguments of npm run agent", () => {
  it("show no token in the help", async () => {
    const { exitCode, output } = await run(["hosted", "--help"], {
      SIGNALBOX_AGENT_TOKEN: "secret-1",
      SIGNALBOX_API_TOKEN: "secret-2",
    });

    assert.equal(exitCode, 0);
    assert.match(output, /SIGNALBOX_AGENT_TOKEN/);
    assert.doesNotMatch(output, /secret-/);
  });

  it("are refused with one sentence", async () => {
    const refusals = [
      await run(["start"]),
      await run(["start", "--token", "t", "--spawn", "0"]),
      await run(["start", "--token", "t", "--endpoint", "ftp://example.com"]),
      await run(["meta-data", "get", "key"]),
    ];

    assert.deepEqual(
      refusals.map(({ exitCode, output }) => [exitCode, /^[^\n]+\n$/.test(output)]),
      Array(4).fill([1, true]),
    );
  });
});
