import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { watchGrowth } from "../../scripts/prove/growth/watch.ts";
import type { Installation } from "../../scripts/prove/installation/installation.ts";
import { freePort } from "../../scripts/scratch/ports.ts";
import { startMetricsServer } from "../../shared/services/metric-server.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { secretKey, settingsOf, startWorld } from "../helpers/world.ts";

/** This process stands for all. */
const everyPid = { pidOf: () => process.pid };

describeOnBothDatabases("the samples of npm run prove -- --faults none", (database) => {
  it("have memory, heap, descriptors, keys and storage of an installation", async (context) => {
    const world = await startWorld(database);
    const logs = mkdtempSync(join(tmpdir(), "signalbox-prove-"));
    const metricsPort = await freePort();
    const metrics = await startMetricsServer(world.services, metricsPort);
    context.after(async () => {
      metrics.close();
      await world.close();
      rmSync(logs, { recursive: true });
    });
    const installation = {
      installed: {
        databaseUrl: world.config.databaseUrl,
        env: { ...settingsOf(world), SECRET_KEY: secretKey, HOST: "127.0.0.1" },
      },
      servers: { ...everyPid, names: ["redis"] },
      processes: { ...everyPid, names: ["ingress.1", "agent.1"] },
      metricsPorts: new Map([["ingress.1", metricsPort]]),
    } as unknown as Installation;

    const watch = watchGrowth(installation, logs);
    await eventually("a sample", async () => watch.samples.length > 0);
    await watch.stop();

    const [header = "", sample = ""] = readFileSync(join(logs, "samples.tsv"), "utf8").split("\n");
    const values = sample.split("\t").map(Number);
    const figures = Object.fromEntries(header.split("\t").map((column, index) => [column, values[index]]));
    for (const column of ["redis MB", "ingress.1 MB", "ingress.1 heap MB", "ingress.1 descriptors", "WAL MB"])
      assert.ok((figures[column] ?? 0) > 0, `${column}: ${figures[column]}`);
    for (const column of ["database MB", "redis keys", "oldest unbuilt s"])
      assert.ok((figures[column] ?? -1) >= 0, `${column}: ${figures[column]}`);
    assert.ok(!header.includes("agent"), "agents are callers");
  });
});
