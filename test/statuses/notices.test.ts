import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorld } from "../helpers/databases.ts";
import { openStatusWorld } from "./world.ts";

/** Nothing but notices makes statuses. */
const off = { publish_commit_status: false };

describeWorld("github_commit_status of notify", openStatusWorld, (world) => {
  const withNotify = (slug: string, notify: unknown, steps: object[]) =>
    world.rest("PATCH", `/pipelines/${slug}`, { body: { configuration: JSON.stringify({ notify, steps }) } });

  it("of a step has its context, or that of the step", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { context, build, newAgent } = await newPipeline(
        off,
        { command: "a", label: "A", notify: [{ github_commit_status: { context: "mine" } }] },
        { command: "b", label: "B", notify: ["github_commit_status"] },
        { command: "c", label: "C" },
      );
      const agent = await newAgent();
      await build();
      await world.send();
      await agent.runOne(1);
      await agent.runOne(0);
      await world.send();
      assert.deepEqual(told("mine"), ["pending", "failure"]);
      assert.deepEqual(told(`${context}/B`), ["pending", "success"]);
      assert.deepEqual([told(`${context}/C`), told(context)], [[], []]);
    }));

  it("warns if the host of the repository has no connection with a token", async () => {
    const connected = await world.connect("gitea");
    const notify = ["github_commit_status", { github_check: { name: "Lint" } }];
    const { slug, build } = await connected.newPipeline(off, { command: "make" });
    await withNotify(slug, notify, [{ command: "make" }]);
    const warnings = async () =>
      (await build()).warnings.map(({ reason }: { reason: string }) => reason) as string[];

    const isAStatus = "It is sent as a commit status: a check takes an application at GitHub";
    assert.deepEqual(await warnings(), [isAStatus]);

    await connected.close();
    const { host } = connected.connection;
    const none = `There is no repository connection with a token for ${host}`;
    assert.deepEqual(await warnings(), [none, none]);
  });

  it("of a build has its context, its condition, and blocks as it says", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { slug, build, newAgent } = await newPipeline(off, { command: "make" });
      const { body } = await world.rest("GET", `/pipelines/${slug}`);
      const agents = body.steps[0].agents ?? { queue: body.steps[0].agent_query_rules?.[0]?.split("=")[1] };
      const changed = await withNotify(
        slug,
        [
          { github_commit_status: { context: "passing" } },
          { github_commit_status: { context: "pending", blocked_builds_as_pending: true } },
          { github_commit_status: { context: "never" }, if: 'build.branch == "other"' },
          { github_check: { name: "checked" } },
        ],
        [{ command: "make", agents }, { block: "Go?" }, { command: "deploy", agents }],
      );
      assert.equal(changed.status, 200, changed.text);
      await build();
      await (await newAgent()).runOne(0);
      await world.send();
      assert.deepEqual(
        ["passing", "pending", "never", "checked"].map((name) => told(name).at(-1)),
        ["success", "pending", undefined, "success"],
      );
    }));

  it("of a group passes once all of its jobs have", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { slug, build, newAgent } = await newPipeline(off, { command: "make" });
      const { body } = await world.rest("GET", `/pipelines/${slug}`);
      const { agents } = body.steps[0];
      const group = {
        group: "All",
        notify: [{ github_commit_status: { context: "group" } }],
        steps: [
          { command: "a", agents },
          { command: "b", agents },
        ],
      };
      const changed = await withNotify(slug, null, [group]);
      assert.equal(changed.status, 200, changed.text);
      const agent = await newAgent();
      await build();
      await agent.runOne(0);
      await world.send();
      assert.deepEqual(told("group"), ["pending"]);
      await agent.runOne(0);
      await world.send();
      assert.deepEqual(told("group"), ["pending", "success"]);
    }));
});
