import assert from "node:assert/strict";
import { before, it } from "node:test";
import { and, eq } from "drizzle-orm";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { minuteMs } from "../../../../shared/durations.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { BuildState } from "../../../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the last builds on the page of a pipeline", startQueuePages, (pages) => {
  before(() => pages.clock.freeze());

  /** A pipeline whose builds ended in these states, after these minutes. Undefined: never ran. */
  const pipelineWith = async (slug: string, ended: [state: BuildState, minutes?: number][]) => {
    const { services, actor, acme, clock } = pages;
    const { db } = services;
    const { builds } = db.tables;
    const steps = [{ command: "make" }];
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: slug,
      slug,
      steps,
    });
    for (const [at, [state, minutes]] of ended.entries()) {
      await createBuildByHand(services, actor, pipeline, { source: "ui" });
      const finishedAt = state === "running" ? null : clock.now();
      const startedAt = minutes === undefined ? null : new Date(clock.now().getTime() - minutes * minuteMs);
      const isBuild = and(eq(builds.pipelineId, pipeline.id), eq(builds.number, at + 1));
      await db.transaction((tx) => tx.update(builds).set({ state, startedAt, finishedAt }).where(isBuild));
    }
    return `/organizations/acme/pipelines/${slug}`;
  };
  const figureOf = async (path: string) =>
    /<figure.*<\/figure>/s.exec((await pages.asAda.get(path)).text)?.[0] ?? "";

  it("are bars as high as they ran, which link to the builds, newest on the right", async () => {
    const path = await pipelineWith("bars", [["passed", 4], ["failed", 2], ["canceled"], ["running", 1]]);

    const figure = await figureOf(path);

    const bars = [...figure.matchAll(/<a href="([^"]*)" tabindex="-1"><title>([^<]*)<\/title>(.*?)<\/a>/gi)];
    assert.deepEqual(
      bars.map(([, href, title]) => [href, title]),
      [
        [`${path}/builds/4`, "#4 running · 1 min"],
        [`${path}/builds/3`, "#3 canceled · never ran"],
        [`${path}/builds/2`, "#2 failed · 2 min"],
        [`${path}/builds/1`, "#1 passed · 4 min"],
      ],
    );
    const places = bars.map(([, , , rects = ""]) => Number(/x="([\d.]+)%"/.exec(rects)?.[1]));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => b - a),
    );
    const heights = bars.map(
      ([, , , rects = ""]) => /height="([\d.]+)"\/?>/g.exec(rects.split("<rect").at(2) ?? "")?.[1],
    );
    assert.deepEqual(heights, ["25", "2", "50", "100"]);
  });

  it("have a pass rate and a typical time, without those that were canceled", async () => {
    const path = await pipelineWith("rate", [
      ["passed", 1],
      ["passed", 3],
      ["passed", 2],
      ["failed", 30],
      ["canceled", 40],
      ["running", 50],
    ]);

    const figure = await figureOf(path);

    assert.match(figure, /The last 6 builds/);
    assert.match(figure, /75 % passed \(3 of 4 that ended\)/);
    assert.match(figure, /median time 2 min/);
    assert.match(figure, new RegExp(`<a href="${path}/builds/4">#4</a></th><td>.*?failed.*?30 min`));
  });

  it("are at most 50, and not shown among the results of a search", async () => {
    const path = await pipelineWith(
      "many",
      Array.from({ length: 52 }, () => ["passed", 1]),
    );

    const figure = await figureOf(path);

    assert.equal(figure.match(/<title>/g)?.length, 50);
    assert.ok(!figure.includes("<title>#2 "));
    assert.equal(await figureOf(`${path}?state=passed`), "");
  });

  it("are left out until one has run", async () => {
    assert.equal(await figureOf(await pipelineWith("none", [])), "");
    assert.equal(await figureOf(await pipelineWith("waiting", [["scheduled"], ["canceled"]])), "");
  });
});
