import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Cell, type Result, readResult } from "../../../scripts/bench/results.ts";
import { skipPostgres } from "../../helpers/databases.ts";
import { redisServerMissing, run } from "../../helpers/processes.ts";

const compilerMissing = spawnSync("cc", ["--version"]).error !== undefined && "no C compiler";
const missing = redisServerMissing || (process.platform !== "linux" && "only Linux says what processes take");
const postgres = process.env.TEST_DATABASE_URL ?? "";

/** Figures of a row, such as `12.3` of `12.3 (≤ 20)`. */
function figuresOf({ tables }: Result, title: RegExp): Cell[] {
  const row = tables[0]?.rows.find(([first]) => title.test(String(first))) ?? [];
  return row.slice(1);
}

const isFigure = (cell: Cell | undefined) => Number.parseFloat(String(cell)) > 0;

const cases: [title: string, options: string, skip: string | false, isRight: (result: Result) => boolean][] =
  [
    [
      "writes a result without the database's address",
      `device --only exchanges --postgres ${postgres}`,
      skipPostgres,
      (result) =>
        /--postgres URL /.test(result.command) && figuresOf(result, /^exchanges\/s/).every(isFigure),
    ],
    [
      "measures keyed webhooks on a slower disk",
      "deliveries --only keyed --sync-ms 1",
      compilerMissing,
      (result) =>
        result.legend.join().includes("Each sync of a file takes 1 ms longer") &&
        isFigure(figuresOf(result, /Idempotency-Key: accepted/)[3]),
    ],
    [
      "measures artifacts beside a server by hand",
      "agents --only artifacts",
      false,
      (result) =>
        [/2 MB: uploaded MB/, /downloaded MB/, /MB: server, CPU/].every((title) =>
          figuresOf(result, title).slice(2, 4).every(isFigure),
        ),
    ],
    [
      "measures a victim beside uploads of artifacts",
      "fairness --only artifactUploads",
      false,
      (result) => /^200 × \d+$/.test(String(figuresOf(result, /upload an artifact/)[3])),
    ],
    [
      "measures an organization alone, with turns and without",
      "fairness --only alone-lists alone-steps",
      false,
      (result) =>
        [/^8 readers of lists/, /^uploads of 20 steps/].every((title) =>
          /^[\d.]+ \(≥ 0\.9\)$/.test(String(figuresOf(result, title)[4])),
        ),
    ],
    [
      "measures a growing installation",
      "growth --only hot",
      false,
      (result) => figuresOf(result, /accept and build/).filter(isFigure).length >= 6,
    ],
  ];

describe("npm run bench", () => {
  for (const [title, options, skip, isRight] of cases)
    it(title, { skip: missing || skip }, async (context) => {
      const out = mkdtempSync(join(tmpdir(), "signalbox-bench-results-"));
      context.after(() => rmSync(out, { recursive: true }));
      const args = options.split(" ");
      const bench = run(["scripts/bench/main.ts", ...args, "--quick", "--out", out], {});
      const [exitCode] = await once(bench.process, "exit");

      assert.equal(exitCode, 0, bench.output());
      const name = options.includes("--postgres") ? `${args[0]}-postgres` : (args[0] ?? "");
      assert.ok(isRight(readResult(name, out)), bench.output());
    });
});
