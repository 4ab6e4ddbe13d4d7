import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { requirePipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { describeOnSqlite } from "../../../helpers/databases.ts";
import { type QueuePages, startQueuePages } from "../../../helpers/pages.ts";

describeOnSqlite("the page of a pipeline", (database) => {
  let pages: QueuePages;

  before(async () => {
    pages = await startQueuePages(database);
  });
  after(() => pages.close());

  it("shows its steps, its repository and the names of its variables", async () => {
    const { services, actor, acme } = pages;
    const visitor = await pages.visitor(pages.ada);
    assert.doesNotMatch((await visitor.get(pages.paths.pipeline)).text, /Repository|Variables/);
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
    assert.match(text, /Wait for the steps before, whether they pass or fail/);
  });
});
