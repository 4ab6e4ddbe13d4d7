import assert from "node:assert/strict";
import { it } from "node:test";
import { dayMs, minuteMs } from "../../shared/durations.ts";
import { describeWorld } from "../helpers/databases.ts";
import { type Connected, openStatusWorld } from "./world.ts";

/** Nothing but notices makes statuses. */
const off = { publish_commit_status: false };
const named = (context: string) => ({ github_commit_status: { context } });

describeWorld("the status of several builds of a commit", openStatusWorld, (world) => {
  type Pipeline = Awaited<ReturnType<Connected["newPipeline"]>>;

  /** A build with its notices, and those of a step and of a group. */
  const noticed = async ({ newPipeline }: Connected) => {
    const made = await newPipeline(off);
    const { body } = await world.rest("GET", `/pipelines/${made.slug}`);
    const { agents } = body.steps[0];
    const step = { command: "make", agents, notify: [named("step"), { github_check: { name: "check" } }] };
    const configuration = {
      notify: [named("build")],
      steps: [{ group: "All", notify: [named("group")], steps: [step] }],
    };
    await world.rest("PATCH", `/pipelines/${made.slug}`, {
      body: { configuration: JSON.stringify(configuration) },
    });
    return { made, contexts: ["build", "step", "check", "group"] };
  };
  const bySettings = async ({ newPipeline }: Connected) => {
    const made = await newPipeline(
      { publish_commit_status_per_step: true },
      { command: "make", label: "Make" },
    );
    return { made, contexts: [made.context, `${made.context}/Make`] };
  };
  /** Begins the job of a build that another build follows. */
  const beginOlder = async ({ build, newAgent }: Pipeline) => {
    const agent = await newAgent();
    await build();
    await world.send();
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);
    await world.send();
    await build();
    await world.send();
    return { job, agent, end: (exitStatus: number) => agent.finish(job, exitStatus, token) };
  };

  for (const [title, open] of Object.entries({ settings: bySettings, notify: noticed })) {
    it(`by ${title} is the newest one's: an older one that ends later is silent`, () =>
      world.onHost("gitea", async (connected) => {
        const { made, contexts } = await open(connected);
        const older = await beginOlder(made);
        await (await made.newAgent()).runOne(0);
        await world.send();
        await older.end(1);
        await world.send();
        for (const context of contexts) {
          assert.equal(connected.told(context).at(-1), "success", context);
          assert.ok(!connected.told(context).includes("failure"), context);
        }
      }));

    it(`by ${title} is pending again when the newest one is retried, and not when an older one is`, () =>
      world.onHost("gitea", async (connected) => {
        const { made, contexts } = await open(connected);
        const older = await beginOlder(made);
        const agent = await made.newAgent();
        const newer = await agent.runOne(1);
        /** One of the agents is preferred for it. */
        const runRetried = async () => {
          for (const each of [agent, older.agent]) if (await each.runOne(0)) return;
          assert.fail("No agent was offered the job.");
        };
        await older.end(1);
        await world.send();

        assert.equal((await made.call("PUT", `/1/jobs/${older.job}/retry`)).status, 200);
        await world.send();
        for (const context of contexts) assert.equal(connected.told(context).at(-1), "failure", context);
        await runRetried();
        await world.send();
        for (const context of contexts) assert.equal(connected.told(context).at(-1), "failure", context);

        assert.equal((await made.call("PUT", `/2/jobs/${newer}/retry`)).status, 200);
        await world.send();
        for (const context of contexts) assert.equal(connected.told(context).at(-1), "pending", context);
        await runRetried();
        await world.send();
        for (const context of contexts) assert.equal(connected.told(context).at(-1), "success", context);
      }));
  }

  it("is left to an older one if the condition of a notice keeps the newer one silent", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const { slug, build, newAgent } = await newPipeline(off);
      const { body } = await world.rest("GET", `/pipelines/${slug}`);
      const notify = [{ ...named("main only"), if: 'build.branch == "main"' }];
      const configuration = JSON.stringify({ notify, steps: body.steps });
      await world.rest("PATCH", `/pipelines/${slug}`, { body: { configuration } });
      await build();
      await build({ branch: "other" });
      await world.send();
      const agent = await newAgent();
      await agent.runOne(0);
      await agent.runOne(1);
      await world.send();
      assert.deepEqual(told("main only"), ["pending", "success"]);
    }));

  it("is left to an older one if the host took none of the newer one for a day", () =>
    world.onHost("gitea", async ({ host, newPipeline, told }) => {
      const made = await newPipeline();
      const agent = await made.newAgent();
      await made.build();
      const job = (await agent.offered()) as string;
      const { token } = await agent.begin(job);
      await world.send();
      host.say({ status: 422 });
      await made.build();
      await world.send();
      world.world.clock.advance(dayMs + minuteMs);
      await world.send();
      host.say(undefined);

      await agent.finish(job, 1, token);
      await world.send();

      assert.deepEqual(told(made.context), ["pending", "failure"]);
    }));

  it("is each pipeline's own, though several name one context", () =>
    world.onHost("gitea", async ({ newPipeline, told }) => {
      const step = { command: "make", notify: [named("ci")] };
      const [one, other] = [await newPipeline(off, step), await newPipeline(off, step)];
      await one.build();
      await other.build();
      await (await other.newAgent()).runOne(0);
      await world.send();
      await (await one.newAgent()).runOne(1);
      await world.send();
      assert.deepEqual(told("ci").sort(), ["failure", "pending", "success"]);
    }));
});
