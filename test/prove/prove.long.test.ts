import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { skipPostgres } from "../helpers/databases.ts";
import { redisServerMissing, run } from "../helpers/processes.ts";

const timeout = 900_000;
/** They are patient: other tests run at the same time. */
const sharedOptions = ["--minutes", "0.1", "--seed", "1", "--patience", "400"];

describe("npm run prove", () => {
  for (const [database, skip] of [
    ["sqlite", redisServerMissing],
    ["postgres", redisServerMissing || skipPostgres],
  ] as const)
    it(`finds the ledger whole after faults: ${database}`, { skip, timeout }, async (context) => {
      const proving = run(["scripts/prove/main.ts", "--database", database, ...sharedOptions], {});
      const [exitCode] = await once(proving.process, "exit");

      context.diagnostic(proving.output());
      assert.equal(exitCode, 0, proving.output());
    });

  it("names the fault that does not exist", async () => {
    const proving = run(["scripts/prove/main.ts", "--faults", "kill,thunder"], {});
    const [exitCode] = await once(proving.process, "exit");

    assert.equal(exitCode, 1);
    assert.match(proving.output(), /There is no fault thunder/);
  });
});
