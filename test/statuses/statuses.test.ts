import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connectionTypes } from "../../shared/connections/types.ts";
import { describeWorld } from "../helpers/databases.ts";
import { commit, openStatusWorld } from "./world.ts";

/** The words of each host for a build that waits, runs, and passes. */
const words = {
  github: ["pending", "pending", "success"],
  github_enterprise: ["pending", "pending", "success"],
  gitlab: ["pending", "running", "success"],
  gitlab_self_managed: ["pending", "running", "success"],
  gitea: ["pending", "pending", "success"],
  bitbucket: ["INPROGRESS", "INPROGRESS", "SUCCESSFUL"],
  bitbucket_server: ["INPROGRESS", "INPROGRESS", "SUCCESSFUL"],
} as const;

describeWorld("commit statuses", openStatusWorld, (world) => {
  for (const type of connectionTypes)
    it(`follow a build at ${type}`, () =>
      world.onHost(type, async ({ host, newPipeline, told }) => {
        const { context, slug, build, newAgent } = await newPipeline();
        const agent = await newAgent();
        await build();
        await world.send();
        const job = (await agent.offered()) as string;
        const { token } = await agent.begin(job);
        await world.send();
        await agent.finish(job, 0, token);
        await world.send();

        assert.deepEqual(told(context), words[type]);
        const last = host.statuses.at(-1);
        assert.equal(last?.commit, commit);
        assert.match(last?.description ?? "", /^Build #1 passed \(/);
        assert.equal(last?.url, `https://app.example.com/organizations/acme/pipelines/${slug}/builds/1`);
      }));

  it("say the present state: changes that nobody sent become one", () =>
    world.onHost("gitea", async ({ host, newPipeline, told }) => {
      const { context, build, newAgent } = await newPipeline();
      const agent = await newAgent();
      await build();
      await agent.runOne(0);
      await world.send();
      assert.deepEqual(told(context), ["success"]);
      assert.equal(host.requests(), 1);
    }));

  it("are each build's own at another commit, and in another context", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { context, build, newAgent } = await newPipeline({ separate_pull_request_statuses: true });
      const agent = await newAgent();
      await build();
      await build({ commit: "f".repeat(40) });
      await build({ pull_request_id: 4, pull_request_base_branch: "main" });
      for (const exitStatus of [1, 0, 0]) await agent.runOne(exitStatus);
      await world.send();
      assert.deepEqual(told(context).sort(), ["failure", "success"]);
      assert.deepEqual(told(`${context}/pr`), ["success"]);
    }));

  it("say failure at once, and pending again after a retry", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { context, build, call, newAgent } = await newPipeline(
        {},
        { command: "fails" },
        { command: "slow" },
      );
      const [agent, other] = [await newAgent(), await newAgent()];
      await build();
      const failing = (await agent.offered()) as string;
      const { token } = await agent.begin(failing);
      const slow = (await other.offered()) as string;
      const running = await other.begin(slow);
      await agent.finish(failing, 1, token);
      await world.send();
      assert.deepEqual(told(context), ["failure"]);

      await other.finish(slow, 0, running.token);
      await world.send();
      assert.equal((await call("PUT", `/1/jobs/${failing}/retry`)).status, 200);
      await world.send();
      assert.ok((await other.runOne(0)) ?? (await agent.runOne(0)));
      await world.send();
      assert.deepEqual(told(context).slice(-2), ["pending", "success"]);
    }));

  it("say of a canceled, and of a skipped build that it failed", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { context, build, call } = await newPipeline();
      await build();
      await call("PUT", "/1/cancel");
      await world.send();
      assert.deepEqual(told(context), ["failure"]);
    }));

  it("say that a blocked build passed so far, or is pending, as the pipeline wants", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const steps = [{ command: "make" }, { block: "Deploy?" }, { command: "deploy" }];
      for (const [publish_blocked_as_pending, state] of [
        [false, "success"],
        [true, "pending"],
      ] as const) {
        const { context, build, newAgent } = await newPipeline({ publish_blocked_as_pending }, ...steps);
        await build();
        await (await newAgent()).runOne(0);
        await world.send();
        assert.deepEqual(told(context), [state]);
      }
    }));

  it("have a context of their own for pull requests, if the pipeline parts them", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { context, build } = await newPipeline({ separate_pull_request_statuses: true });
      await build();
      await build({ pull_request_id: 4 });
      await world.send();
      assert.deepEqual([told(context), told(`${context}/pr`)], [["pending"], ["pending"]]);
    }));

  it("are not sent if the pipeline or the connection wants none, nor without a token", async () => {
    await world.onHost("gitea", async ({ host, newPipeline }) => {
      const { build } = await newPipeline({ publish_commit_status: false });
      await build();
      await world.send();
      assert.equal(host.requests(), 0);
    });
    for (const given of [{ publish_statuses: false }, { token: null }])
      await world.onHost(
        "gitea",
        async ({ host, newPipeline }) => {
          await (await newPipeline()).build();
          await world.send();
          assert.equal(host.requests(), 0);
        },
        given,
      );
  });

  it("are not sent once the pipeline no longer wants them", () =>
    world.onHost("gitea", async ({ host, newPipeline }) => {
      const { slug, build } = await newPipeline();
      host.say({ status: 500 });
      await build();
      await world.send();
      host.say(undefined);
      const body = { provider_settings: { publish_commit_status: false } };
      assert.equal((await world.rest("PATCH", `/pipelines/${slug}`, { body })).status, 200);
      world.world.clock.advance(60_000);
      await world.send();
      assert.deepEqual(host.statuses, []);
    }));

  describe("of steps", () => {
    const steps = [
      { command: "make test", label: "Unit tests", key: "unit" },
      { command: "make lint", label: "Lint" },
      { command: "make docs", label: "Docs", if: "false" },
    ];

    it("have the step's label, and follow its job", () =>
      world.onHost("gitea", async ({ host, newPipeline, told }) => {
        const { slug, context, build, newAgent } = await newPipeline(
          { publish_commit_status_per_step: true },
          ...steps,
        );
        await build();
        await world.send();
        const agent = await newAgent();
        await agent.runOne(1);
        await agent.runOne(0);
        await world.send();

        assert.deepEqual(told(`${context}/Unit tests`), ["pending", "failure"]);
        assert.deepEqual(told(`${context}/Lint`), ["pending", "success"]);
        assert.deepEqual(told(`${context}/Docs`), []);
        const { url = "", description } = host.statuses.findLast(({ name }) => name.endsWith("Lint")) ?? {};
        assert.match(url, new RegExp(`/pipelines/${slug}/builds/1#[0-9a-f-]{36}$`));
        assert.match(description ?? "", /^Passed/);
      }));

    it("have its key, if the pipeline wants that", () =>
      world.onHost("gitea", async ({ newPipeline, told }) => {
        const settings = { publish_commit_status_per_step: true, use_step_key_as_commit_status: true };
        const { context, build } = await newPipeline(settings, ...steps);
        await build();
        await world.send();
        assert.deepEqual([told(`${context}/unit`), told(`${context}/Lint`)], [["pending"], ["pending"]]);
      }));

    it("are one for all parallel jobs, and pending again after a retry", () =>
      world.onHost("gitea", async ({ newPipeline, told }) => {
        const { context, build, call, newAgent } = await newPipeline(
          { publish_commit_status_per_step: true },
          { command: "make", label: "Parts", parallelism: 2 },
        );
        const name = `${context}/Parts`;
        const agent = await newAgent();
        await build();
        const failed = await agent.runOne(1);
        await world.send();
        assert.deepEqual(told(name), ["failure"]);
        await agent.runOne(0);
        await call("PUT", `/1/jobs/${failed}/retry`);
        await world.send();
        assert.equal(told(name).at(-1), "pending");
        await agent.runOne(0);
        await world.send();
        assert.equal(told(name).at(-1), "success");
      }));
  });

  it("wait for an agent that says which commit was meant", () =>
    world.onHost("gitea", async ({ host, newPipeline, told }) => {
      const { context, build, newAgent } = await newPipeline(
        { publish_commit_status_per_step: true },
        { command: "make", label: "Make" },
      );
      const agent = await newAgent();
      await build({ commit: "HEAD" });
      const job = (await agent.offered()) as string;
      const { token } = await agent.begin(job);
      await world.send();
      assert.equal(host.requests(), 0);

      const prefix = world.world.services.config.agentEnvPrefix.toLowerCase();
      const entry = { key: `${prefix}:git:commit`, value: `commit ${commit}\nabbrev-commit 0123456\n` };
      assert.equal((await agent.send("POST", `/jobs/${job}/data/set`, entry, token)).status, 200);
      await world.send();
      assert.deepEqual([told(context), told(`${context}/Make`)], [["pending"], ["pending"]]);
      assert.equal(host.statuses[0]?.commit, commit);
      await agent.finish(job, 0, token);
      await world.send();
      assert.deepEqual([told(context).at(-1), told(`${context}/Make`).at(-1)], ["success", "success"]);
    }));
});
