import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { freePort } from "../../scripts/scratch/ports.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { eventually, request } from "../helpers/http.ts";
import { run } from "../helpers/processes.ts";

describe("a SQLite database that cannot be opened", () => {
  it("is opened by the running process once it can be", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-unopened-"));
    const file = join(folder, "test.db");
    mkdirSync(file); // SQLITE_CANTOPEN, as on a full disk
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const ingress = run(["ingress/main.ts"], {
      DATABASE_URL: `file:${file}`,
      REDIS_URL: process.env.TEST_REDIS_URL ?? "",
      PORT: String(port),
    });
    await eventually("a try", async () => ingress.output().includes("cannot be opened"));

    rmdirSync(file);
    await migrate(`file:${file}`);

    const isReady = () =>
      request(`${url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await eventually(`ingress: ${ingress.output()}`, isReady);
    assert.equal(ingress.process.exitCode, null);
    await ingress.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  });
});
