import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { tasksOfBuilds } from "../../../../shared/builds/task-handlers.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { openTasks } from "../../../../shared/tasks/runner.ts";
import type { Step } from "../../../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the pages of a trigger step and its build", startQueuePages, (pages) => {
  const newPipeline = (name: string, steps: Step[]) =>
    createPipeline(pages.services, pages.actor, { clusterId: pages.acme.cluster.id, name, steps });
  const build = async (name: string, steps: Step[]) => {
    const tasks = openTasks(pages.services, tasksOfBuilds);
    await createBuildByHand(pages.services, pages.actor, await newPipeline(name, steps), {});
    await tasks.idle();
    await tasks.close();
    return `${pages.paths.pipelines}/${name}/builds/1`;
  };
  const pathOfJob = (html: string) => /href="([^"]*\/jobs\/[0-9a-f-]{36})"/.exec(html)?.[1] ?? "";

  it("lead to each other", async () => {
    await newPipeline("deploy", [{ command: "make" }]);
    const path = await build("tests", [{ type: "trigger", trigger: "deploy" }]);
    const child = `${pages.paths.pipelines}/deploy/builds/1`;

    const parent = (await pages.asBob.get(path)).text;
    assert.match(parent, new RegExp(`<a href="${child}"><bdi>deploy</bdi> #1</a>`));
    assert.match(parent, />Trigger deploy</);
    const job = pathOfJob(parent);
    const jobPage = (await pages.asBob.get(job)).text;
    assert.match(jobPage, new RegExp(`<a href="${child}"><bdi>deploy</bdi> #1</a>`));
    assert.doesNotMatch(jobPage, /<section id="log"/);

    const childPage = (await pages.asBob.get(child)).text;
    assert.match(childPage, new RegExp(`triggered by <a href="${path}">tests #1</a>`));
    assert.doesNotMatch(childPage, /from a step/, "it is said once");
    assert.ok(childPage.includes(`href="${job}"`));
  });

  it("say why there is no build", async () => {
    const path = await build("broken", [{ type: "trigger", trigger: "nowhere" }]);
    const page = (await pages.asBob.get(path)).text;
    assert.match(page, /There is no pipeline nowhere/);
    assert.match((await pages.asBob.get(pathOfJob(page))).text, /There is no pipeline nowhere/);
  });
});
