import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readResult } from "../../../scripts/bench/results.ts";
import { skipPostgres } from "../../helpers/databases.ts";
import { redisServerMissing, run } from "../../helpers/processes.ts";

const compilerMissing = spawnSync("cc", ["--version"]).error !== undefined && "no C compiler";
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

describe("npm run bench -- deliveries", () => {
  it("measures keyed webhooks on a slower disk", { skip: missing || compilerMissing }, async (context) => {
    const out = mkdtempSync(join(tmpdir(), "signalbox-bench-results-"));
    context.after(() => rmSync(out, { recursive: true }));
    const options = ["--quick", "--only", "keyed", "--sync-ms", "1", "--out", out];
    const bench = run(["scripts/bench/main.ts", "deliveries", ...options], {});
    const [exitCode] = await once(bench.process, "exit");

    assert.equal(exitCode, 0, bench.output());
    const { legend, tables } = readResult("deliveries", out);
    assert.match(legend.join("\n"), /Each sync of a file takes 1 ms longer/);
    const figures = new Map(tables[0]?.rows.map(([title, ...cells]) => [title, cells]));
    assert.ok(Number(figures.get("1 KB with an Idempotency-Key: accepted/s")?.[3]) > 0, bench.output());
    assert.ok(Number(figures.get("  longest stall of a turn, ms")?.[3]) >= 0, bench.output());
  });
});

describe("npm run bench -- agents", () => {
  it("measures artifacts beside a server by hand", { skip: missing }, async (context) => {
    const out = mkdtempSync(join(tmpdir(), "signalbox-bench-results-"));
    context.after(() => rmSync(out, { recursive: true }));
    const options = ["--quick", "--only", "artifacts", "--out", out];
    const bench = run(["scripts/bench/main.ts", "agents", ...options], {});
    const [exitCode] = await once(bench.process, "exit");

    assert.equal(exitCode, 0, bench.output());
    const figures = new Map(
      readResult("agents", out).tables[0]?.rows.map(([title, ...cells]) => [title, cells]),
    );
    for (const title of ["artifacts of 2 MB: uploaded MB/s", "  downloaded MB/s", "  MB: server, CPU µs"]) {
      const [, , byHand, signalbox] = figures.get(title) ?? [];
      assert.ok(Number(byHand) > 0 && Number(signalbox) > 0, bench.output());
    }
  });
});

describe("npm run bench -- fairness", () => {
  it("measures a victim beside uploads of artifacts", { skip: missing }, async (context) => {
    const out = mkdtempSync(join(tmpdir(), "signalbox-bench-results-"));
    context.after(() => rmSync(out, { recursive: true }));
    const options = ["--quick", "--only", "artifactUploads", "--out", out];
    const bench = run(["scripts/bench/main.ts", "fairness", ...options], {});
    const [exitCode] = await once(bench.process, "exit");

    assert.equal(exitCode, 0, bench.output());
    const upload = readResult("fairness", out).tables[0]?.rows.find(([title]) =>
      /upload an artifact/.test(String(title)),
    );
    assert.match(String(upload?.[4]), /^200 × \d+$/);
  });

  it("measures an organization alone, with turns and without", { skip: missing }, async (context) => {
    const out = mkdtempSync(join(tmpdir(), "signalbox-bench-results-"));
    context.after(() => rmSync(out, { recursive: true }));
    const options = ["--quick", "--only", "alone-lists", "alone-steps", "--out", out];
    const bench = run(["scripts/bench/main.ts", "fairness", ...options], {});
    const [exitCode] = await once(bench.process, "exit");

    assert.equal(exitCode, 0, bench.output());
    const rates = readResult("fairness", out).tables[0]?.rows.filter(([title]) => /\/s$/.test(String(title)));
    assert.equal(rates?.length, 2, bench.output());
    for (const [, , withoutTurns, signalbox, , ratio] of rates ?? []) {
      assert.ok(Number(withoutTurns) > 0 && Number(signalbox) > 0, bench.output());
      assert.match(String(ratio), /^[\d.]+ \(≥ 0\.9\)$/);
    }
  });
});
