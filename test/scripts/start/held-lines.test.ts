import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { holdRoutineLines } from "../../../scripts/start/held-lines.ts";

describe("npm start, lines of its processes before the banner", () => {
  const routine = '{"level":"info","time":"2026-11-22T10:00:00.000Z","msg":"started"}';
  let printed: string[];
  let lines: ReturnType<typeof holdRoutineLines>;
  beforeEach(() => {
    printed = [];
    lines = holdRoutineLines((name, line) => void printed.push(`${name} ${line}`));
  });

  it("are printed at once if something goes wrong", () => {
    const all = [
      '{"level":"warn","msg":"Redis does not answer"}',
      '{"level":"error"}',
      "Error: cannot start",
    ];

    for (const line of all) lines.print("worker", line);

    assert.deepEqual(
      printed,
      all.map((line) => `worker ${line}`),
    );
  });

  it("wait for the banner if they are routine, and are printed then and from then on", () => {
    lines.print("ingress", routine);
    assert.deepEqual(printed, []);

    lines.release();
    lines.print("worker", routine);

    assert.deepEqual(printed, [`ingress ${routine}`, `worker ${routine}`]);
  });

  it("are printed if there are more than a start writes", () => {
    for (let count = 0; count < 1001; count++) lines.print("ingress", routine);

    assert.equal(printed.length, 1);
  });
});
