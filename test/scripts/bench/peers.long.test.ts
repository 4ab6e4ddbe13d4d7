import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { skipPostgres } from "../../helpers/databases.ts";
import { redisServerMissing, run } from "../../helpers/processes.ts";

const missing = redisServerMissing || (process.platform !== "linux" && "only Linux says what processes take");

describe("npm run bench -- peers", () => {
  it("has figures of each peer, and loses none of its posts", { skip: missing || skipPostgres }, async () => {
    const peers = ["signalbox-sqlite", "pg-boss"]; // Debian's package needs lists of packages
    const options = ["--quick", "--postgres", process.env.TEST_DATABASE_URL ?? "", "--only", ...peers];
    const bench = run(["scripts/bench/main.ts", "peers", ...options], {});
    const [exitCode] = await once(bench.process, "exit");

    const output = bench.output();
    assert.equal(exitCode, 0, output);
    const [, table = ""] = /─\n(.*?)\n\n/s.exec(output) ?? [];
    const rows = table.split("\n").map((row) => row.split(/ {2,}/));
    assert.equal(rows.length, peers.length, output);
    for (const [title, accepted, p99, runs, megabytes, lostBefore, posted, lost] of rows) {
      for (const figure of [accepted, p99, runs, megabytes, posted])
        assert.ok(Number(figure?.replace(",", "")) > 0, `${title}: ${figure}\n${output}`);
      assert.deepEqual([lostBefore, lost], ["0", "0"], `${title}\n${output}`);
    }
  });

  it("says what a peer needs", async () => {
    const bench = run(["scripts/bench/main.ts", "peers", "--only", "pg-boss"], {});

    const [exitCode] = await once(bench.process, "exit");

    assert.equal(exitCode, 1);
    assert.match(bench.output(), /pg-boss needs --postgres/);
  });
});
