import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { allFaults } from "../../../scripts/prove/faults/table.ts";
import { createMetrics } from "../../../shared/process/metrics/metrics.ts";

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

const folder = "scripts/deploy";
const rules = parse(readFileSync(`${folder}/alerts.yml`, "utf8")) as { groups: { rules: Alert[] }[] };
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readFileSync(`${folder}/dashboard.json`, "utf8"));
const panels = (dashboard.panels as { title: string; targets?: { expr: string }[] }[]).flatMap(
  ({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })),
);

/** Prometheus adds them itself. */
const ofPrometheus = { metric: "up", labels: ["job", "instance", "le"] };
const ofEveryMetric = ["process", "version", ...ofPrometheus.labels];

/** The metrics of a query, each with the labels that it asks for. */
function metricsIn(expr: string): { name: string; labels: string[] }[] {
  const named = expr.matchAll(/\b((?:signalbox|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g);
  return [...named].map(([, name = "", matchers = ""]) => ({
    name: name.replace(/_(bucket|sum|count)$/, ""),
    labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = ""]) => label),
  }));
}

describe("the files for deployment", () => {
  const registered = new Map<string, string[]>([[ofPrometheus.metric, []]]);
  let metrics: ReturnType<typeof createMetrics>;

  before(() => {
    metrics = createMetrics({
      process: "test",
      isRedisAway: () => false,
      redisState: () => "ok",
      databaseState: () => "ok",
    });
    metrics.collectProcess();
    for (const metric of metrics.registry.getMetricsAsArray() as unknown as {
      name: string;
      labelNames?: string[];
    }[])
      registered.set(metric.name, metric.labelNames ?? []);
  });
  after(() => metrics.registry.clear());

  const assertKnown = (where: string, expr: string) => {
    const used = metricsIn(expr);
    assert.ok(used.length > 0, `${where}: ${expr}`);
    for (const { name, labels } of used) {
      const known = registered.get(name);
      assert.ok(known, `${where} uses the unknown metric ${name}`);
      for (const label of labels)
        assert.ok([...known, ...ofEveryMetric].includes(label), `${where}: ${name} has no label ${label}`);
    }
  };

  it("have alerts on metrics of the registry, each with a severity and what to do", () => {
    assert.ok(alerts.length > 15);
    assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length);
    for (const { alert, expr, labels, annotations } of alerts) {
      assertKnown(alert, expr);
      assert.match(labels.severity, /^(critical|warning|info)$/, alert);
      assert.ok(annotations.summary && annotations.description, alert);
    }
  });

  it("have a dashboard of metrics of the registry, and of all of ours", () => {
    for (const { title, expr } of panels) assertKnown(title, expr);
    const shown = new Set(panels.flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name)));
    const ours = [...registered.keys()].filter((name) => name.startsWith("signalbox_"));
    assert.deepEqual(
      ours.filter((name) => !shown.has(name)),
      [],
    );
  });

  it("say in which metric and alert each fault of npm run prove shows", () => {
    const page = readFileSync("scripts/prove/README.md", "utf8");
    const rows = [...page.matchAll(/^\| (Signalbox\w+) \| `(\w+)` \| (.+) \|$/gm)];
    const kinds = new Set(rows.flatMap(([, , , shows = ""]) => shows.match(/(?<=`)[a-z-]+(?=`)/g) ?? []));

    assert.deepEqual([...kinds].sort(), allFaults.map(({ kind }) => kind).sort());
    for (const [row, name, metric = ""] of rows) {
      const alert = alerts.find((each) => each.alert === name);
      assert.ok(alert, row);
      assert.ok(
        metricsIn(alert.expr).some((used) => used.name === metric),
        row,
      );
    }
  });

  it("are accepted by promtool, where it is installed", async (t) => {
    try {
      await promisify(execFile)("promtool", ["check", "rules", `${folder}/alerts.yml`]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      t.skip("promtool is not on the PATH");
    }
  });
});
