import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  fillBlocks,
  listResults,
  pageFile,
  readResult,
  renderResult,
  writeResult,
} from "../../../scripts/bench/results.ts";

describe("npm run bench -- show", () => {
  it("has written the blocks of the page from the published results", () => {
    const page = readFileSync(pageFile, "utf8");

    assert.equal(fillBlocks(page), page, "npm run bench -- show --write");
    assert.ok((page.match(/<!-- result /g) ?? []).length >= 5);
  });

  for (const name of listResults())
    it(`has a published result that can be judged: ${name}`, () => {
      const result = readResult(name);

      assert.equal(result.name, name);
      assert.doesNotMatch(result.command, /--quick/);
      assert.doesNotMatch(result.others, /TOO BUSY/);
      for (const { columns, rows } of result.tables)
        for (const row of rows) assert.ok(row.length === columns.length || row.length === 1, String(row[0]));
      assert.doesNotMatch(renderResult(result), /NaN|undefined|null/);
    });

  it("prints figures as three digits, and a dash for what was not measured", (context) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-results-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const tables = [
      {
        columns: ["", "a", "b"],
        rows: [
          ["posts/s", 12345, null],
          ["  p50 ms", 0.5, "1.50 !"],
        ],
      },
    ];
    const result = {
      name: "x",
      command: "c",
      machine: ["CPU  m"],
      tables,
      legend: ["l"],
      others: "Others  0",
    };

    writeResult(folder, result);

    assert.deepEqual(readResult("x", folder), result);
    assert.match(renderResult(result), /posts\/s {3}12,345 {7}–\n {2}p50 ms {4}0\.50 {2}1\.50 !/);
  });
});
