import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { skipPostgres } from "../../helpers/databases.ts";
import { redisServerMissing, run } from "../../helpers/processes.ts";

const missing = redisServerMissing || (process.platform !== "linux" && "only Linux says what processes take");

describe("npm run bench -- soak", () => {
  for (const [database, skip, options] of [
    ["sqlite", missing, []],
    ["postgres", missing || skipPostgres, ["--postgres", process.env.TEST_DATABASE_URL ?? ""]],
  ] as const)
    it(`samples an installation whose deliveries are all built: ${database}`, { skip }, async (context) => {
      const out = mkdtempSync(join(tmpdir(), "signalbox-soak-"));
      context.after(() => rmSync(out, { recursive: true }));
      const soaking = run(["scripts/bench/main.ts", "soak", "--quick", "--out", out, ...options], {});
      const [exitCode] = await once(soaking.process, "exit");

      assert.equal(exitCode, 0, soaking.output());
      const file = join(out, `soak-${database}`);
      const [header = "", ...samples] = readFileSync(`${file}.tsv`, "utf8").trim().split("\n");
      const columns = header.split("\t");
      const last = Object.fromEntries(
        (samples.at(-1) ?? "").split("\t").map((value, index) => [columns[index], value]),
      );
      assert.equal(last.phase, "flood");
      for (const column of ["deliveries", "ingress MB", "worker descriptors", "Redis keys", "database MB"])
        assert.ok(Number(last[column]) > 0, `${column}: ${last[column]}`);
      assert.match(readFileSync(`${file}.svg`, "utf8"), /<polyline/);
    });
});
