import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Cell, type Result, readResult } from "../../../scripts/bench/results.ts";
import { skipPostgres } from "../../helpers/databases.ts";
import { redisServerMissing, run } from "../../helpers/processes.ts";

const missing = redisServerMissing || (process.platform !== "linux" && "only Linux says what processes take");
const postgres = process.env.TEST_DATABASE_URL ?? "";

/** Figures of a row, such as `12.3` of `12.3 (≤ 20)`. */
function figuresOf({ tables }: Result, title: RegExp): Cell[] {
  const rows = tables.flatMap((table) => table.rows);
  return rows.find(([first]) => title.test(String(first)))?.slice(1) ?? [];
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
      "measures keyed webhooks beside a server by hand",
      "deliveries --only keyed",
      false,
      (result) => figuresOf(result, /Idempotency-Key: accepted/).every(isFigure),
    ],
    [
      "measures pushes beside a trigger",
      "deliveries --only pushes",
      false,
      (result) => figuresOf(result, /^push of 1 KB/).every(isFigure),
    ],
    [
      "measures builds beside messages about them",
      "deliveries --only messages",
      false,
      (result) => figuresOf(result, /notifications, CPU/).every(isFigure),
    ],
    [
      "measures jobs beside BullMQ",
      "agents --only jobs",
      false,
      (result) => figuresOf(result, /^20 agents: jobs/).every(isFigure),
    ],
    [
      "measures a victim beside uploads, and an organization alone, with turns and without",
      "fairness --only artifactUploads alone-lists alone-artifacts",
      false,
      (result) =>
        /^200 × \d+$/.test(String(figuresOf(result, /upload an artifact/)[3])) &&
        [/^8 readers of lists/, /2 MB: uploaded MB/].every((title) =>
          /^[\d.]+ \(≥ 0\.9\)$/.test(String(figuresOf(result, title)[4])),
        ),
    ],
    [
      "measures a growing installation",
      "growth --only hot",
      false,
      (result) => figuresOf(result, /accept and build, p50/).every(isFigure),
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
