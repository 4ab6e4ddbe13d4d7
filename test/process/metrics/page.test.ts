import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { createMetrics } from "../../../shared/process/metrics/metrics.ts";

interface Described {
  name: string;
  labelNames?: string[];
  help: string;
}

it("METRICS.md has the name, labels and meaning of each metric, and what to do", () => {
  const { registry } = createMetrics({
    process: "test",
    isRedisAway: () => false,
    redisState: () => "ok",
    databaseState: () => "ok",
  });
  const registered = registry.getMetricsAsArray() as unknown as Described[];

  const page = readFileSync("shared/METRICS.md", "utf8");
  const rows = [...page.matchAll(/^\| `(signalbox_\w+)` \| (.*) ?\| (.+) \| (.+) \|$/gm)];

  const documented = rows.map(([, name, labels = "", help]) => ({
    name,
    help,
    labelNames: labels.match(/\w+/g) ?? [],
  }));
  const expected = registered.map(({ name, help, labelNames = [] }) => ({ name, help, labelNames }));
  const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }) =>
    String(one.name) < String(other.name) ? -1 : 1;
  assert.ok(expected.length > 30);
  assert.deepEqual(documented.sort(byName), expected.sort(byName));
});
