import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { skipPostgres } from "../helpers/databases.ts";
import { bundle, redisServerMissing, run } from "../helpers/processes.ts";

const fromBundle = bundle ? ["--bundle", bundle] : [];

describe("npm run prove", () => {
  for (const [database, skip] of [
    ["sqlite", redisServerMissing],
    ["postgres", redisServerMissing || skipPostgres],
  ] as const)
    it(`finds the ledger whole after faults: ${database}`, { skip }, async (context) => {
      const options = ["--minutes", "0.15", "--seed", "1", "--database", database, ...fromBundle];
      const proving = run(["scripts/prove/main.ts", ...options], {});
      const [exitCode] = await once(proving.process, "exit");

      context.diagnostic(proving.output());
      assert.equal(exitCode, 0, proving.output());
    });

  it("samples an installation without faults", {
    skip: redisServerMissing || skipPostgres,
  }, async (context) => {
    const logs = mkdtempSync(join(tmpdir(), "signalbox-prove-"));
    context.after(() => rmSync(logs, { recursive: true }));
    const options = ["--faults", "none", "--minutes", "0.05", "--database", "postgres", "--logs", logs];
    const proving = run(["scripts/prove/main.ts", ...options, ...fromBundle], {});
    const [exitCode] = await once(proving.process, "exit");

    assert.equal(exitCode, 0, proving.output());
    assert.match(proving.output(), /^0 faults/m);
    const [header = "", sample = ""] = readFileSync(join(logs, "samples.tsv"), "utf8").split("\n");
    const values = sample.split("\t").map(Number);
    const figures = Object.fromEntries(header.split("\t").map((column, index) => [column, values[index]]));
    for (const column of ["ingress.1 heap MB", "worker.2 descriptors", "postgres MB", "redis keys", "WAL MB"])
      assert.ok((figures[column] ?? 0) > 0, `${column}: ${figures[column]}`);
  });

  it("names the fault that does not exist", async () => {
    const proving = run(["scripts/prove/main.ts", "--faults", "kill,thunder"], {});
    const [exitCode] = await once(proving.process, "exit");

    assert.equal(exitCode, 1);
    assert.match(proving.output(), /There is no fault thunder/);
  });
});
