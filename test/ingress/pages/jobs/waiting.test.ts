import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { loseUnseenAgents, markListening } from "../../../../shared/agents/lost.ts";
import { pauseDispatch } from "../../../../shared/dispatch/pause.ts";
import { minuteMs, secondMs } from "../../../../shared/durations.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import type { Step } from "../../../../shared/vocabulary.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { makeStagedBuild } from "../builds/staged-builds.ts";

describeWorldOn(sqlite, "the page of a job that waits", startQueuePages, (pages) => {
  let made = 0;

  before(() => pages.clock.freeze());

  const newQueue = (key: string) => createQueue(pages.services, pages.actor, pages.acme.cluster, { key });
  /** The path of the last job of a new build. */
  const lastJob = async (...steps: Step[]) => {
    const name = `waiting-${++made}`;
    const given = { clusterId: pages.acme.cluster.id, name, steps };
    const { jobs } = await makeStagedBuild(pages, pages.actor, given);
    const job = jobs.toSorted((one, other) => one.position - other.position).at(-1);
    return { path: `${pages.paths.pipelines}/${name}/builds/1/jobs/${job?.id}`, id: job?.id ?? "" };
  };
  const textOf = async (visitor: Visitor, path: string) =>
    (await visitor.get(path)).text
      .replace(/^.*<main/s, "")
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ");

  it("names the steps before it, and its queue", async () => {
    const { path } = await lastJob(
      { label: "Unit", command: "a" },
      { label: "Lint", command: "b" },
      { type: "wait" },
      { label: "Deploy", command: "c" },
    );
    const text = await textOf(pages.asBob, path);
    assert.match(text, /Waits for Unit and Lint \./);
    assert.match(text, /Queue default Agent none yet/);
  });

  it("names a key that no step has", async () => {
    const { path } = await lastJob({ command: "a" }, { command: "b", depends_on: [{ step: "build" }] });
    assert.match(
      await textOf(pages.asBob, path),
      /Waits for a step with the key build , which no step has yet \./,
    );
  });

  it("has the button that resumes its queue for admins", async () => {
    const queue = await newQueue("disks");
    await pauseDispatch(pages.services, pages.actor, queue, "New disks");
    const { path } = await lastJob({ command: "a", agents: { queue: "disks" } });

    assert.match(
      await textOf(pages.asBob, path),
      /The queue disks is paused\. New disks Admins can resume it\./,
    );
    assert.match(await textOf(pages.asAda, path), /The queue disks is paused\. New disks Resume the queue/);
    const [, resume = ""] = /action="([^"]*\/resume)"/.exec((await pages.asAda.get(path)).text) ?? [];
    await pages.asAda.post(resume);

    assert.match(await textOf(pages.asAda, path), /No agent of the queue disks is connected/);
  });

  it("has the command that starts an agent with its queue and tags", async () => {
    const queue = await newQueue("tagged");
    const agents = { queue: "tagged", os: "linux", place: "it's here" };
    const { path } = await lastJob({ command: "a", agents });
    assert.match(
      await textOf(pages.asBob, path),
      /is connected\. Start one .* npm run agent -- start --token TOKEN --queue tagged --tags/,
    );

    await startAgent(pages.url, await agentTokenOf(pages, pages.acme.cluster, { queueId: queue.id }), {
      meta_data: ["os=linux"],
    });

    const text = (await textOf(pages.asBob, path)).replaceAll("&#39;", "'");
    assert.match(text, /No connected agent of the queue tagged has the tag place=it's here \./);
    assert.match(text, /--queue tagged --tags 'os=linux,place=it'\\''s here'/);
    const ofQueue = (await textOf(pages.asBob, `${pages.paths.cluster}/queues/${queue.id}`)).replaceAll(
      "&#39;",
      "'",
    );
    assert.match(ofQueue, /scheduled No connected agent of the queue tagged has the tag place=it's here/);
  });

  it("says that an agent lost it", async () => {
    const queue = await newQueue("unsteady");
    const token = await agentTokenOf(pages, pages.acme.cluster, { queueId: queue.id });
    const agent = await startAgent(pages.url, token, { name: "build-1" });
    const { path } = await lastJob({ command: "a", agents: { queue: "unsteady" } });
    await agent.begin((await agent.offered()) ?? "");
    assert.match(await textOf(pages.asBob, path), /Queue unsteady Agent build-1/);

    for (let passed = 0; passed < 2 * minuteMs; passed += 10 * secondMs) {
      pages.clock.advance(10 * secondMs);
      await markListening(pages.services);
    }
    await loseUnseenAgents(pages.services);

    assert.match(await textOf(pages.asBob, path), /Lost by build-1 , waiting again\./);
    assert.match(await textOf(pages.asBob, path.replace(/\/jobs.*/, "")), /Lost by its agent, waiting again/);
  });
});
