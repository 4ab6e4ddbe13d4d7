import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { PublicAgent, type Version } from "../../agents/public-agent.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../../helpers/agent.ts";
import type { Api } from "../../helpers/api.ts";
import { nameOf, type ShownJob } from "./expected.ts";
import { type ExpectedBuild, readPipeline, type Stranger, siblingOf, uploadedBy } from "./read.ts";

export type Site = Awaited<ReturnType<typeof openSite>>;

const uploaders = "uploaders";

/** A cluster with the queues and the agents that the pipeline and its uploads ask for. */
export async function openSite(api: Api, stranger: Stranger, settle: () => Promise<void>) {
  const { id } = await api.newCluster();
  const token = await agentTokenOf(api.world, { ...api.acme.cluster, id });
  const rules = [stranger, ...uploadedBy(stranger)].flatMap(({ agents }) => agents);
  await makeQueues(api, id, rules);
  const tags = new Set([["queue=default"], ...rules].map((each) => each.join("\n").replaceAll("=*", "=any")));
  const crew: ScriptedAgent[] = [];
  for (const each of stranger.refused.length > 0 ? [] : tags)
    crew.push(await startAgent(api.world.url, token, { meta_data: each.split("\n") }));
  const { slug } = await api.newPipeline({
    cluster_id: id,
    steps: [{ command: "upload", agents: { queue: uploaders } }],
  });

  return {
    /** Makes a build whose first job runs. The agent of that job is of this version, and uploads the pipeline. */
    async startBuild(version: Version, expected: Partial<ExpectedBuild>) {
      const { branch = "main", message = "Change one thing", env = {} } = expected;
      const body = { commit: "HEAD", branch, message, env };
      const made = await api.send("POST", `/pipelines/${slug}/builds`, { body });
      assert.equal(made.status, 201, made.text);
      const agent = new PublicAgent(api.world.url, version);
      await agent.start(token, uploaders);
      const { job: offered } = await agent.ping();
      assert.ok(offered);
      const job = await agent.accept(offered.id);
      await agent.run(job);
      return {
        number: made.body.number as number,
        upload: () =>
          agent.send("POST", `/jobs/${job.id}/pipelines${version.hasJobToken ? "?async=true" : ""}`, {
            json: uploadOf(stranger.name, version),
            headers: version.hasJobToken ? { "X-Buildkite-Backoff-Sequence": "0" } : {},
            token: job.token,
          }),
        async end() {
          await agent.finish(job);
          await agent.send("POST", "/disconnect");
          agent.close();
        },
        build: async () => (await api.send("GET", `/pipelines/${slug}/builds/${made.body.number}`)).body,
      };
    },
    /** Runs all jobs, and unblocks each step for people once its turn comes. */
    async runAll(version: Version, number: number, expected: ExpectedBuild) {
      const path = `/pipelines/${slug}/builds/${number}`;
      const standIn: StandIn = (name, attempt) => {
        const file = expected.uploads?.[name];
        return {
          exitStatus: expected.exits?.[name]?.[attempt] ?? 0,
          upload: file === undefined ? undefined : uploadOf(siblingOf(stranger, file), version),
        };
      };
      do await settle();
      while ((await runAll(crew, standIn)) || (await unblockAny(api, path, expected)));
    },
  };
}

async function unblockAny(api: Api, path: string, { answers = {} }: ExpectedBuild): Promise<boolean> {
  const { body: build } = await api.send("GET", path);
  const jobs: (ShownJob & { id: string; unblockable?: boolean })[] = build.jobs;
  const unblockable = jobs.filter((job) => job.unblockable);
  for (const job of unblockable) {
    const body = { fields: answers[nameOf(job)] ?? {} };
    const { status, text } = await api.send("PUT", `${path}/jobs/${job.id}/unblock`, { body });
    assert.equal(status, 200, text);
  }
  return unblockable.length > 0;
}

function uploadOf(name: string, { hasJobToken }: Version) {
  return { uuid: randomUUID(), pipeline: readPipeline(name, { isParsed: hasJobToken }) };
}

async function makeQueues(api: Api, clusterId: string, rules: string[][]): Promise<void> {
  const { id } = await api.newQueue({ key: "default" }, clusterId);
  const body = { default_queue_id: id };
  assert.equal((await api.send("PATCH", `/clusters/${clusterId}`, { body })).status, 200);
  const named = rules.flat().filter((rule) => rule.startsWith("queue="));
  const keys = new Set([uploaders, ...named.map((rule) => rule.slice("queue=".length))]);
  keys.delete("default");
  for (const key of keys) await api.newQueue({ key }, clusterId);
}

/** What a job's command does instead of its own. */
type StandIn = (name: string, attempt: number) => { exitStatus: number; upload: object | undefined };

/**
 * Each agent takes what it is offered, until none is offered anything.
 * @returns whether any job ran
 */
async function runAll(crew: ScriptedAgent[], standIn: StandIn): Promise<boolean> {
  const attempts = new Map<string, number>();
  const runOne = async (agent: ScriptedAgent, id: string) => {
    const { token, env } = await agent.begin(id);
    const name = nameOf({ step_key: env.BUILDKITE_STEP_KEY ?? null, name: env.BUILDKITE_LABEL ?? null });
    const attempt = attempts.get(name) ?? 0;
    attempts.set(name, attempt + 1);
    const { exitStatus, upload } = standIn(name, attempt);
    if (upload) {
      const { status, text } = await agent.send("POST", `/jobs/${id}/pipelines`, upload, token);
      assert.equal(status, 200, text);
    }
    const { status, text } = await agent.finish(id, exitStatus, token);
    assert.equal(status, 200, text);
  };

  const runOffered = async (agent: ScriptedAgent) => {
    let ran = 0;
    for (let id = await agent.offered(); id !== undefined; id = await agent.offered()) {
      await runOne(agent, id);
      ran++;
    }
    return ran;
  };

  const runRound = async () => (await Promise.all(crew.map(runOffered))).some((jobs) => jobs > 0);
  const ranAny = await runRound();
  while (await runRound());
  return ranAny;
}
