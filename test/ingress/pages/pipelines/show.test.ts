import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import {
  createPipeline,
  defaultStep,
  requirePipeline,
  updatePipeline,
} from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { build } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the page of a pipeline", startQueuePages, (pages) => {
  it("shows its steps, its repository and the names of its variables", async () => {
    const { services, actor, acme } = pages;
    const visitor = await pages.visitor(pages.ada);
    const without = (await visitor.get(pages.paths.pipeline)).text;
    assert.ok(
      without.includes(`None: jobs check nothing out. <a href="${pages.paths.pipeline}/edit">Name one`),
    );
    assert.doesNotMatch(without, /Variables/);
    const web = await requirePipeline(services.db, acme.id, "web");

    await updatePipeline(services, actor, web, {
      repository: "https://git.example.com/<site>.git",
      environment: { COLOUR: "deep red" },
      steps: pipelineSteps.parse([
        { label: "Test", command: "make test", parallelism: 3 },
        "wait",
        { plugins: ["docker#v5"] },
        { wait: null, continue_on_failure: true },
      ]),
    });

    const { text } = await visitor.get(pages.paths.pipeline);
    assert.match(text, /<code>https:\/\/git\.example\.com\/&lt;site(>|&gt;)\.git<\/code>/);
    assert.match(text, /<code>COLOUR<\/code>/);
    assert.ok(!text.includes("deep red"));
    assert.match(text, /Test <code>make test<\/code><span class="quiet"> in 3 jobs<\/span>/);
    assert.match(text, /Wait for the steps before<\/span>/);
    assert.match(text, /Plugins only/);
    assert.ok(text.includes(`href="${pages.paths.pipeline}/edit#steps">Edit steps`));
    assert.match(text, /Wait for the steps before, whether they pass or fail/);
  });

  it("warns of a condition that matches letters where text is meant", async () => {
    const { services, actor, acme } = pages;
    const steps = [{ command: "make", if: "build.message !~ /[skip]/" }];
    const { slug } = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "Odd",
      steps,
    });

    const { text } = await pages.asBob.get(`${pages.paths.pipelines}/${slug}`);

    assert.match(text, /<p class="warning">\[skip\] matches one of the letters s, k, i and p\. /);
  });

  it("is listed with the first line of the message of its last build", async () => {
    const { services, actor, paths } = pages;
    const message = "Make it faster\n\nThe loop is gone";
    const web = await requirePipeline(services.db, pages.acme.id, "web");
    await createBuildByHand(services, actor, web, { message, source: "ui" });

    const { text } = await (await pages.visitor(pages.bob)).get(paths.pipelines);

    assert.match(text, /Make it faster/);
    assert.doesNotMatch(text, /The loop is gone/);
  });

  it("archives the pipeline, which is then listed apart and offers no new build", async () => {
    const { services, acme } = pages;
    const visitor = await pages.visitor(pages.bob);
    const { slug } = await createPipeline(services, pages.actor, {
      name: "Old shop",
      clusterId: acme.cluster.id,
      steps: [{ command: "make" }],
    });
    const path = `/organizations/acme/pipelines/${slug}`;
    const listed = async (query = "") =>
      (await visitor.get(`/organizations/acme/pipelines${query}`)).text.includes("Old shop");
    const before = (await visitor.get(path)).text;
    assert.match(before, /<details id="new-build" class="fold primary"><summary>New build/);
    const [, menu = ""] = /<details class="menu rare" id="more">(.*?)<\/details>/s.exec(before) ?? [];
    assert.match(menu, />Archive<.*>Delete</s);
    assert.doesNotMatch(
      before.slice(before.indexOf("<main")),
      /class="[^"]*danger/,
      "rare acts are not loud",
    );

    for (let clicks = 0; clicks < 2; clicks++)
      assert.equal(
        (await visitor.post(`${path}/archive`, {})).headers.get("location"),
        `${path}?notice=pipeline_archived`,
      );

    const { text } = await visitor.get(path);
    assert.match(text, /Archived <time/);
    assert.match(text, />Unarchive</);
    assert.doesNotMatch(text, /New build/);
    assert.deepEqual([await listed(), await listed("?archived=true")], [false, true]);

    await visitor.post(`${path}/unarchive`, {});
    assert.match((await visitor.get(path)).text, /New build/);
    assert.deepEqual([await listed(), await listed("?archived=true")], [true, false]);
  });

  it("has 30 builds a page, and the list has as many pipelines", async () => {
    const { services, actor, acme, asBob, paths } = pages;
    const make = (name: string) =>
      createPipeline(services, actor, { clusterId: acme.cluster.id, name, steps: [defaultStep] });
    for (let made = 0; made < 31; made++) await make(`Pipeline ${made}`);
    const { id } = await make("Busy");
    await build(pages, id, 45);
    const count = async (path: string, item: RegExp) => (await asBob.get(path)).text.match(item)?.length;

    const busy = `${paths.pipelines}/busy`;
    assert.equal(await count(paths.pipelines, /class="entry/g), 30);
    assert.ok(((await count(`${paths.pipelines}?page=2`, /class="entry/g)) ?? 0) >= 3);
    assert.deepEqual(
      [await count(busy, />#\d+<\/a>/g), await count(`${busy}?page=2`, />#\d+<\/a>/g)],
      [30, 15],
    );
    for (const odd of ["0", "-1", "99", "x", "1e999", ""])
      assert.equal((await asBob.get(`${busy}?page=${odd}`)).status, 200, odd);
  });
});
