import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { findBuild } from "../../../../shared/builds/rows/build-store.ts";
import { archivePipeline } from "../../../../shared/pipelines/archive.ts";
import { createPipeline, requirePipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorld("the page after a form gave a pipeline its steps", startQueuePages, (pages) => {
  const make = (name: string) =>
    createPipeline(pages.services, pages.actor, {
      name,
      clusterId: pages.acme.cluster.id,
      defaultBranch: "trunk",
      steps: [{ command: "make" }],
    });
  const build = (slug: string, branch: string) =>
    requirePipeline(pages.services.db, pages.acme.id, slug).then((pipeline) =>
      createBuildByHand(pages.services, pages.actor, pipeline, { branch, commit: "abc1234" }),
    );
  /** Saves a form of the pipeline, and returns the address of the answer. */
  const save = async (path: string, command: string) => {
    const { cluster } = pages.acme;
    const fields = { name: "Saved", cluster: cluster.id, branch: "trunk", allow_rebuilds: "1" };
    const steps = { rows: "1", "step-0-kind": "command", "step-0-command": command };
    const { headers } = await pages.asBob.post(path, { ...fields, ...steps, environment_choice: "keep" });
    return headers.get("location") ?? "";
  };
  /** The forms above the heading of a page, by the text of their buttons. */
  const offersOf = async (path: string) => {
    const { text } = await pages.asBob.get(path);
    const [above = ""] = /<main.*?<h1/s.exec(text) ?? [];
    return new Map(
      [...above.matchAll(/<form method="post" action="([^"]*)">(.*?)<\/form>/gs)].map(
        ([, action = "", inner = ""]) => {
          const fields = [...inner.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
            name,
            value,
          ]);
          return [inner.replace(/<[^>]*>/g, ""), { action, fields: Object.fromEntries(fields) }];
        },
      ),
    );
  };
  const press = async (offers: Awaited<ReturnType<typeof offersOf>>, name: string) => {
    const { action, fields } = offers.get(name) ?? { action: "", fields: {} };
    return (await pages.asBob.post(action, fields)).headers.get("location");
  };

  it("builds the default branch, then the branch that was built last", async () => {
    const { slug, id } = await make("By branch");
    const path = `${pages.paths.pipelines}/${slug}`;
    const answer = await save(`${path}/edit`, "make test");
    assert.equal(answer, `${path}?notice=steps_saved&build=next`);

    const offers = await offersOf(answer);
    assert.deepEqual([...offers.keys()], ["New build of trunk"]);
    assert.equal(await press(offers, "New build of trunk"), `${path}/builds/1?notice=build_created`);
    const made = await findBuild(pages.services.db, id, 1);
    assert.deepEqual([made?.branch, made?.commit], ["trunk", "HEAD"]);
    await build(slug, "feature");
    const later = answer.replace("notice=steps_saved&", "");
    for (const address of [answer, later])
      assert.deepEqual([...(await offersOf(address)).keys()], ["New build of feature"]);
  });

  it("builds the build again that led to the steps", async () => {
    const { slug, id } = await make("By build");
    const path = `${pages.paths.pipelines}/${slug}`;
    await build(slug, "feature");
    await build(slug, "other");
    const edit = `${path}/edit?build=1`;
    const { text } = await pages.asBob.get(edit);
    assert.ok(text.includes(`<form method="post" action="${edit}">`));
    assert.ok(text.includes(`href="${path}/builds/1">Cancel`));
    const answer = await save(edit, "make again");
    assert.equal(answer, `${path}?notice=steps_saved&build=1`);

    const offers = await offersOf(answer);
    assert.deepEqual([...offers.keys()], ["Rebuild #1", "New build of feature"]);
    assert.equal(await press(offers, "Rebuild #1"), `${path}/builds/3?notice=build_created`);
    const made = await findBuild(pages.services.db, id, 3);
    assert.deepEqual([made?.branch, made?.commit], ["feature", "abc1234"]);
    assert.deepEqual(
      [...(await offersOf(`${path}?notice=steps_saved&build=99`)).keys()],
      ["New build of feature"],
    );
    const { services, actor } = pages;
    const pipeline = await requirePipeline(services.db, pages.acme.id, slug);
    await updatePipeline(services, actor, pipeline, { allowRebuilds: false });
    assert.deepEqual([...(await offersOf(answer)).keys()], ["New build of feature"]);
    await archivePipeline(services, actor, pipeline);
    assert.equal((await offersOf(answer)).size, 0);
  });

  it("leads from a form that names a missing build back to the pipeline", async () => {
    const { slug } = await make("Missing");
    const path = `${pages.paths.pipelines}/${slug}`;

    const { text } = await pages.asBob.get(`${path}/edit?build=7`);

    assert.ok(text.includes(`href="${path}">Cancel`));
    assert.equal(await save(`${path}/edit?build=7`, "make again"), `${path}?notice=steps_saved&build=next`);
  });

  it("offers nothing after other settings were saved", async () => {
    const { slug } = await make("Same steps");
    const answer = await save(`${pages.paths.pipelines}/${slug}/edit?build=1`, "make");
    assert.equal(answer, `${pages.paths.pipelines}/${slug}?notice=pipeline_saved`);
    assert.equal((await offersOf(answer)).size, 0);
  });
});
