import { randomUUID } from "node:crypto";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../../helpers/agent.ts";
import type { Api } from "../../helpers/api.ts";

/** A build on a queue of its own, whose first job runs, with the calls of a program in that job. */
export async function enterJob(api: Api, ...steps: (string | object)[]) {
  const { key } = await api.newQueue();
  const agents = { queue: key };
  const pipeline = await api.newPipeline({
    steps: steps.map((step) => (typeof step === "string" ? step : { agents, ...step })),
  });
  await api.build(pipeline.id);
  const registration = await agentTokenOf(api.world, api.acme.cluster);
  const newAgent = () => startAgent(api.world.url, registration, { meta_data: [`queue=${key}`] });
  const agent = await newAgent();
  const job = (await agent.offered()) as string;
  const { token } = await agent.begin(job);
  const path = `/pipelines/${pipeline.slug}/builds/1`;
  const build = async () => (await api.send("GET", path)).body;
  const { id: buildId } = await build();
  return {
    agent,
    newAgent,
    job,
    token,
    build,
    buildId,
    path,
    key,
    slug: pipeline.slug,
    send: (method: string, to: string, body?: unknown) => agent.send(method, to, body, token),
    get: async (step: string, attribute?: string, more: object = {}) => {
      const answer = await agent.send("POST", `/steps/${step}/export`, { attribute, ...more }, token);
      return answer.status === 200 ? answer.body.output : answer.status;
    },
    update: (step: string, attribute: string, value: string, more: object = {}) => {
      const update = { idempotency_uuid: randomUUID(), build_id: buildId, attribute, value };
      return agent.send("PUT", `/steps/${step}`, { ...update, ...more }, token);
    },
    states: async () => (await build()).jobs.map(({ state }: { state: string }) => state),
    finish: (exitStatus = 0) => agent.finish(job, exitStatus, token),
  };
}

/** Runs all jobs that an agent is offered. */
export async function runAll(agent: ScriptedAgent): Promise<void> {
  while (await agent.runOne());
}
