import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, it } from "node:test";
import { fileOf } from "../../../../ingress/pages/commits/steps-source.tsx";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline, requirePipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { Step } from "../../../../shared/vocabulary.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../../../helpers/agent.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const commit = "1234567890abcdef1234567890abcdef12345678";
const repository = "https://github.com/acme/app.git";

describeWorld("where a failure is understood", startQueuePages, (pages) => {
  let agent: ScriptedAgent;

  before(async () => {
    agent = await startAgent(pages.url, await agentTokenOf(pages, pages.acme.cluster));
  });

  const build = (name: string, command: string) => buildOf(name, [{ label: "First", command }]);
  const buildOf = async (name: string, steps: Step[]) => {
    const { services, actor, acme } = pages;
    const given = { name, clusterId: acme.cluster.id, repository, steps };
    const pipeline = await createPipeline(services, actor, given);
    await createBuildByHand(services, actor, pipeline, { commit });
    return `${pages.paths.pipelines}/${pipeline.slug}/builds/1`;
  };
  const begin = async () => {
    const id = (await agent.offered()) as string;
    return { id, ...(await agent.begin(id)) };
  };
  /** Said about the steps by the page of the build, or of a job. */
  const sourceOn = async (path: string) => {
    const { text } = await pages.asBob.get(path);
    return /<p class="steps-source">(.*?)<\/p>/s.exec(text)?.[1];
  };

  it("leads to the steps of the pipeline", async () => {
    const path = await build("own", "make");
    const job = await begin();
    assert.equal(await sourceOn(`${path}/jobs/${job.id}`), undefined);
    await agent.finish(job.id, 1, job.token);

    for (const each of [path, `${path}/jobs/${job.id}`])
      assert.equal(
        await sourceOn(each),
        `<span><a href="${pages.paths.pipelines}/own/edit?build=1&amp;step=${job.id}">Edit steps</a></span><span>Retry runs the same steps. Edited ones need a new build.</span>`,
        each,
      );
  });

  /** The fields of the form that get the focus, once somebody follows the link. */
  const focusedFrom = async (path: string) => {
    const source = (await sourceOn(path)) ?? "";
    const [, link = ""] = /href="([^"]+)">Edit steps</.exec(source) ?? [];
    const { text } = await pages.asBob.get(link.replace("&amp;", "&"));
    return [...text.matchAll(/<\w+ ([^>]*)\bautofocus\b/g)].map(
      ([, before]) => /id="([^"]+)"/.exec(before ?? "")?.[1],
    );
  };
  const test: Step = { label: "Test", command: "make test" };

  it("leads to the step of the pipeline that failed", async () => {
    const path = await buildOf("third", [
      { label: "Lint", command: "make lint", parallelism: 2 },
      { type: "wait" },
      test,
      { type: "wait" },
      { command: "make release" },
    ]);
    await agent.runOne();
    await agent.runOne();
    const failed = await agent.runOne(1);

    assert.deepEqual(await focusedFrom(path), ["field-step-2-command"]);
    assert.deepEqual(await focusedFrom(`${path}/jobs/${failed}`), ["field-step-2-command"]);
  });

  it("leads to the text or the heading of steps that have no fields of their own", async () => {
    const path = await buildOf("grouped", [
      { command: "make" },
      { type: "group", label: "Tests", steps: [test] },
    ]);
    await agent.runOne();
    await agent.runOne(1);

    assert.deepEqual(await focusedFrom(path), ["field-steps"]);

    const upload = await buildOf("upload", [
      { label: "Upload steps", command: "buildkite-agent pipeline upload" },
    ]);
    await agent.runOne(1);

    assert.deepEqual(await focusedFrom(upload), ["steps-heading"]);
  });

  it("leads to the first of steps that were edited since", async () => {
    const { services, actor, acme } = pages;
    const path = await buildOf("edited", [{ command: "make" }, test]);
    await agent.runOne();
    await agent.runOne(1);
    const pipeline = await requirePipeline(services.db, acme.id, "edited");
    await updatePipeline(services, actor, pipeline, { steps: [test] });

    assert.match((await sourceOn(path)) ?? "", /\/edited\/edit\?build=1#steps"/);
  });

  it("names the file and the commit of steps that a job uploaded", async () => {
    const path = await build("uploading", "buildkite-agent pipeline upload .buildkite/deploy.yml");
    const first = await begin();
    const upload = { uuid: randomUUID(), pipeline: { steps: [{ command: "make" }] } };
    await agent.send("POST", `/jobs/${first.id}/pipelines`, upload, first.token);
    await agent.finish(first.id, 0, first.token);
    assert.equal(await sourceOn(`${path}/jobs/${first.id}`), undefined);
    const job = await begin();
    await agent.finish(job.id, 1, job.token);

    for (const each of [path, `${path}/jobs/${job.id}`]) {
      const source = (await sourceOn(each)) ?? "";
      assert.match(source, /^<span>Steps from .* at /);
      const file = `https://github.com/acme/app/blob/${commit}/.buildkite/deploy.yml`;
      assert.ok(source.includes(`<a href="${file}" rel="noreferrer"><code>.buildkite/deploy.yml</code></a>`));
      assert.ok(source.includes(`href="https://github.com/acme/app/commit/${commit}"`));
      assert.doesNotMatch(source, /Edit steps/);
    }
  });
});

describe("the file that a command uploads", () => {
  for (const [command, file] of [
    ["buildkite-agent pipeline upload", ""],
    ["buildkite-agent pipeline upload --replace", ""],
    ["buildkite-agent pipeline upload .buildkite/a-b.yaml", ".buildkite/a-b.yaml"],
    ["signalbox-agent pipeline upload --replace ci/steps.json\n", "ci/steps.json"],
    ["./make-steps.sh | buildkite-agent pipeline upload", undefined],
    ["buildkite-agent pipeline upload -", undefined],
    ["buildkite-agent pipeline upload $FILE.yml", undefined],
    ["cd web && buildkite-agent pipeline upload steps.yml", undefined],
    ["buildkite-agent pipeline upload ../steps.yml", undefined],
    ["buildkite-agent pipeline upload ci/../../../../../other/app/blob/main/steps.yml", undefined],
    ["make", undefined],
  ] as const)
    it(`of ${JSON.stringify(command)} is ${file ?? "unknown"}`, () => assert.equal(fileOf(command), file));
});
