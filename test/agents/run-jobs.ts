import assert from "node:assert/strict";
import { agentTokenOf } from "../helpers/agent.ts";
import type { Api } from "../helpers/api.ts";
import { openSettling } from "../helpers/builds.ts";
import { type AcceptedJob, PublicAgent, type Version } from "./public-agent.ts";

/** Stands in for the command of a job. Returns its exit status; what is no number is 0. */
export type StandIn = (agent: PublicAgent, job: AcceptedJob, index: number) => Promise<unknown>;

/**
 * Makes a build, and runs its jobs one after the other in one agent of a version.
 * @returns the path of the build in REST
 */
export async function runJobs(
  api: Api,
  version: Version,
  steps: (string | object)[],
  run: StandIn,
  cluster = api.acme.cluster,
): Promise<string> {
  const { key } = await api.newQueue({}, cluster.id);
  const agents = { queue: key };
  const onQueue = (step: string | object) =>
    typeof step === "string" ? step : { command: "make", agents, ...step };
  const { id, slug } = await api.newPipeline({ cluster_id: cluster.id, steps: steps.map(onQueue) });
  await api.build(id);
  const agent = new PublicAgent(api.world.url, version);
  const { settle, close } = openSettling(api.world.services);
  try {
    await agent.start(await agentTokenOf(api.world, cluster), key);
    for (let index = 0; ; index++) {
      await settle();
      const { job: offered } = await agent.ping();
      if (!offered) return `/pipelines/${slug}/builds/1`;
      const job = await agent.accept(offered.id);
      await agent.run(job);
      const exitStatus = await run(agent, job, index);
      await agent.finish(job, typeof exitStatus === "number" ? String(exitStatus) : "0");
      assert.ok(index < 100, "the build ends");
    }
  } finally {
    agent.close();
    await close();
  }
}

export const buildOf = ({ env }: AcceptedJob) => env.BUILDKITE_BUILD_ID as string;
