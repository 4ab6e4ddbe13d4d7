import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { buildSchema } from "../../../shared/presenters/build.ts";
import { jobSchema } from "../../../shared/presenters/job.ts";
import { pipelineSchema } from "../../../shared/presenters/pipeline.ts";
import { unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { documentedMembers } from "../../ingress/api/clients/members.ts";
import { openChain } from "../triggers/open-chain.ts";

describeWorld("a build that has everything", openChain, (chain) => {
  let slug: string;
  let path: string;

  const get = async (address: string) => {
    const { status, body } = await chain.api.send("GET", address);
    assert.equal(status, 200, address);
    return body;
  };

  before(async () => {
    const target = await chain.newPipeline([{ command: "make" }]);
    const configuration = `
      steps:
        - { block: Ask, key: ask, blocked_state: failed }
        - { trigger: ${target}, async: true, depends_on: null }
        - { command: make, notify: [{ slack: "#ci" }] }
    `;
    slug = await chain.newPipeline([], { ...pipelineMembers, steps: undefined, configuration });
    path = `/pipelines/${slug}/builds/1`;
    const { id } = await chain.build(slug, buildMembers);
    await chain.send("POST", `/pipelines/${slug}/archive`);
    await chain.api.world.services.db.transaction(async (tx) => {
      const { builds } = tx.tables;
      const [build] = await tx.select().from(builds).where(eq(builds.id, id));
      const ofParent = { build_id: unknownId, build_number: 1, build_pipeline_slug: "p", depth: 2 };
      await tx
        .update(builds)
        .set({
          options: { ...build?.options, merge_queue: ofQueue, tag: "v1", triggered_from: ofParent },
          rebuiltFromId: id,
          cancelReason: "c",
          startedAt: tx.now,
          failingAt: tx.now,
          finishedAt: tx.now,
        })
        .where(eq(builds.id, id));
    });
  });

  it("has every member set, and so has its pipeline", async () => {
    const build = await get(path);

    assert.deepEqual(unsetIn(buildSchema.shape, build), []);
    assert.deepEqual([build.blocked, build.author.name, build.warnings.length], [true, "Ada", 1]);
    const unset = unsetIn(pipelineSchema.shape, await get(`/pipelines/${slug}`));
    assert.deepEqual(unset, ["pipeline_template_uuid"]);
  });

  it("is the same wherever it is read", async () => {
    const { job_state_counts, warnings, ...build } = await get(path);
    const { pipeline } = build;

    for (const list of ["/builds", `/pipelines/${slug}/builds`]) {
      const listed = (await get(list)).find(({ id }: { id: string }) => id === build.id);
      assert.deepEqual(listed, build, list);
    }
    const single = await get(`/pipelines/${slug}`);
    const [listed] = (await get("/pipelines?archived=true")).filter(
      (each: { id: string }) => each.id === pipeline.id,
    );
    assert.deepEqual(listed, single);
    for (const name of Object.keys(single).filter((each) => each.endsWith("_count"))) delete single[name];
    assert.deepEqual(pipeline, single);
  });

  it("has jobs of block and trigger steps with all of their members, wherever they are read", async () => {
    await chain.api.send("POST", `/pipelines/${slug}/unarchive`);
    const { id } = (await get(path)).jobs.find(({ type }: { type: string }) => type === "manual");
    const unblocked = await chain.send("PUT", `${path}/jobs/${id}/unblock`);
    assert.equal(unblocked.status, 200, unblocked.text);

    const { jobs } = await get(path);
    const [manual, trigger] = ["manual", "trigger"].map((type) =>
      jobs.find((job: { type: string }) => job.type === type),
    );
    const ofManual = ["label", "unblocked_by", "unblocked_at", "unblockable", "unblock_url"];
    assert.deepEqual(unsetIn(Object.fromEntries(ofManual.map((name) => [name, null])), manual), []);
    assert.deepEqual(
      [manual.unblocked_by.id, manual.unblockable, trigger.async, trigger.triggered_build.number],
      [chain.api.admin.id, false, true, 1],
    );
    assert.deepEqual((await get(`${path}/jobs`)).items, jobs);
    for (const job of jobs) assert.deepEqual(await get(`/jobs/${job.id}`), job);
  });

  it("has the documented members", () => {
    const shapes = { build: buildSchema.shape, job: jobSchema.shape, pipeline: pipelineSchema.shape };
    for (const [resource, names] of Object.entries(documentedMembers)) {
      const shape = shapes[resource as keyof typeof shapes];
      const missing = names.split(" ").filter((name) => !(name in shape));
      assert.deepEqual(missing, [], resource);
    }
  });
});

const pipelineMembers = {
  description: "D",
  repository: "git@example.com:a.git",
  branch_configuration: "main",
  env: { A: "1" },
  skip_queued_branch_builds: true,
  skip_queued_branch_builds_filter: "!main",
  cancel_running_branch_builds: true,
  cancel_running_branch_builds_filter: "!main",
  default_command_step_timeout: 1,
  maximum_command_step_timeout: 2,
  clone_mirror_url: "git@mirror.example.com:a.git",
  tags: ["T"],
  emoji: "🚀",
  color: "#ff5733",
};

const ofQueue = { base_branch: "main", base_commit: "abc" };

const buildMembers = {
  message: "M",
  author: { name: "Ada", email: "ada@example.com" },
  env: { A: "1" },
  meta_data: { k: "v" },
  pull_request_id: 7,
  pull_request_base_branch: "main",
  pull_request_repository: "git@example.com:fork.git",
};

/** The names of members that are absent, null or empty. */
function unsetIn(shape: object, body: Record<string, unknown>): string[] {
  const isUnset = (value: unknown) =>
    typeof value === "object" ? Object.keys(value ?? {}).length === 0 : value === undefined || value === "";
  return Object.keys(shape).filter((name) => isUnset(body[name]));
}
