import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readResult } from "../../../scripts/bench/results.ts";
import { skipPostgres } from "../../helpers/databases.ts";
import { redisServerMissing, run } from "../../helpers/processes.ts";

const missing = redisServerMissing || (process.platform !== "linux" && "only Linux says what processes take");

describe("npm run bench -- device", () => {
  it("writes a result without the database's address", { skip: missing || skipPostgres }, async (context) => {
    const out = mkdtempSync(join(tmpdir(), "signalbox-bench-results-"));
    context.after(() => rmSync(out, { recursive: true }));
    const postgres = process.env.TEST_DATABASE_URL ?? "";
    const options = ["--quick", "--only", "exchanges", "--out", out, "--postgres", postgres];
    const bench = run(["scripts/bench/main.ts", "device", ...options], {});
    const [exitCode] = await once(bench.process, "exit");

    assert.equal(exitCode, 0, bench.output());
    const { command, tables } = readResult("device-postgres", out);
    assert.match(command, /--postgres URL$/);
    const [title, theirs, ours] = tables[0]?.rows[0] ?? [];
    assert.equal(title, "exchanges/s");
    assert.ok(Number(theirs) > 0, bench.output());
    assert.match(String(ours), /^\d/);
  });
});
