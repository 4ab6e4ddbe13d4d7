import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { tasksOfBuilds } from "../../../../shared/builds/task-handlers.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { openTasks } from "../../../../shared/tasks/runner.ts";
import type { CommandStep } from "../../../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the pages of concurrency groups", startQueuePages, (pages) => {
  const groups = "/organizations/acme/groups";

  const inGroup = (name: string): CommandStep => ({
    command: "make",
    concurrency: 1,
    concurrency_group: name,
  });
  const build = async (name: string, group: string, amount = 1) => {
    const tasks = openTasks(pages.services, tasksOfBuilds);
    const pipeline = await createPipeline(pages.services, pages.actor, {
      clusterId: pages.acme.cluster.id,
      name,
      steps: [inGroup(group), { type: "wait" }, inGroup(group)],
    });
    for (let made = 0; made < amount; made++)
      await createBuildByHand(pages.services, pages.actor, pipeline, {});
    await tasks.idle();
    await tasks.close();
  };
  const pathOf = (html: string, group: string) =>
    new RegExp(`<a href="([^"]+/groups/[^"]+)">${group}</a>`).exec(html)?.[1] ?? "";

  it("are led to by the clusters, and are empty at first", async () => {
    assert.match(
      (await pages.asBob.get("/organizations/acme/clusters")).text,
      new RegExp(`<a href="${groups}">`),
    );
    assert.match((await pages.asBob.get(groups)).text, /No job belongs to a group now/);
    assert.equal((await pages.asBob.get(`${groups}?after=%00`)).status, 200);
  });

  it("name the jobs that hold a group, and those that wait in their order", async () => {
    await build("site", "deploys");
    await build("app", "deploys");

    const list = (await pages.asBob.get(groups)).text;
    assert.match(list, /1 job holds it\s· 3 wait/);
    const [, holding = "", limited = "", waiting = ""] = (
      await pages.asBob.get(pathOf(list, "deploys"))
    ).text.split("<section");
    assert.match(holding, /hold the group.*\/pipelines\/site\/builds\/1\/jobs\//s);
    assert.match(limited, /wait for the group alone.*\/pipelines\/app\/builds\/1\/jobs\//s);
    assert.match(waiting, /keep their place.*\/pipelines\/site\/.*\/pipelines\/app\//s);
  });

  it("are named by the job that waits, with who holds the group", async () => {
    const page = (await pages.asBob.get("/organizations/acme/pipelines/app/builds/1")).text;
    const job = /href="([^"]*\/jobs\/[0-9a-f-]{36})"/.exec(page)?.[1] ?? "";
    const text = (await pages.asBob.get(job)).text;
    assert.match(text, /Waits for its concurrency group <a href="[^"]+\/groups\/[^"]+">deploys<\/a>/);
    assert.match(text, /it is held by.*<a href="\/organizations\/acme\/pipelines\/site\/builds\/1\/jobs\//s);
  });

  it("have further pages", async () => {
    await build("many", "crowded", 33);
    const path = pathOf((await pages.asBob.get(groups)).text, "crowded");
    const first = (await pages.asBob.get(path)).text;
    assert.match(first, /limited_page=2/);
    const second = (await pages.asBob.get(`${path}?limited_page=2`)).text;
    assert.match(second, /many<\/bdi> #32/);
    assert.match(second, /many<\/bdi> #33/);
  });

  it("are unknown in another organization", async () => {
    const path = pathOf((await pages.asBob.get(groups)).text, "deploys");
    assert.equal((await pages.asBob.get(path.replace("acme", "globex"))).status, 404);
  });
});
