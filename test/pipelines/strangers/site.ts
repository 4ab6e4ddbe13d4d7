import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { PublicAgent, type Version, versions } from "../../agents/public-agent.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../../helpers/agent.ts";
import type { Api } from "../../helpers/api.ts";
import { type BegunJob, type Left, runCommand, valueOfSecret } from "./commands.ts";
import { nameOf, type ShownJob } from "./expected.ts";
import {
  type ExpectedBuild,
  reachedBy,
  readPipeline,
  readText,
  type Stranger,
  secretsIn,
  siblingOf,
} from "./read.ts";

export type Site = Awaited<ReturnType<typeof openSite>>;

const uploaders = "uploaders";

/** A cluster with the queues and the agents that the pipeline and its uploads ask for. */
export async function openSite(api: Api, stranger: Stranger, settle: () => Promise<void>) {
  const { id } = await api.newCluster();
  const token = await agentTokenOf(api.world, { ...api.acme.cluster, id });
  const all = [stranger, ...reachedBy(stranger)];
  const rules = all.flatMap(({ agents }) => agents);
  await makeQueues(api, id, rules);
  await makeSecrets(api, id, all);
  const tags = new Set([["queue=default"], ...rules].map((each) => each.join("\n").replaceAll("=*", "=any")));
  const crew: ScriptedAgent[] = [];
  for (const each of stranger.refused.length > 0 ? [] : tags)
    crew.push(await startAgent(api.world.url, token, { meta_data: each.split("\n") }));
  for (const [name, file] of Object.entries(stranger.triggers)) {
    const configuration = readText(siblingOf(stranger, file));
    await api.newPipeline({ name, cluster_id: id, steps: undefined, configuration });
  }
  const wire = new PublicAgent(api.world.url, versions[1] as Version);
  const left: Left = new Map();
  const { slug } = await api.newPipeline({
    cluster_id: id,
    steps: [{ command: "upload", agents: { queue: uploaders } }],
  });

  return {
    close: () => wire.close(),
    /** Compares what the commands of a build left with what REST shows. */
    async assertLeft(number: number, { annotations = [] }: ExpectedBuild) {
      const path = `/pipelines/${slug}/builds/${number}`;
      const { id: buildId } = (await api.send("GET", path)).body;
      const artifacts = await api.send("GET", `${path}/artifacts?per_page=100&state=finished`);
      assert.equal(artifacts.body.length, Math.min(left.get(buildId) ?? 0, 100));
      const shown = await api.send("GET", `${path}/annotations?scope=all`);
      const lines = shown.body.map(({ context, style, body_html }: Record<string, string>) =>
        [context, style ?? "plain", body_html?.replaceAll(/<[^>]*>|\n/g, "")].join(" "),
      );
      assert.deepEqual(lines.toSorted(), annotations.toSorted());
    },
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
      const run = (agent: ScriptedAgent, job: BegunJob) => runCommand(agent, { wire, left }, job);
      do await settle();
      while ((await runAll(crew, { standIn, run })) || (await unblockAny(api, path, expected)));
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

async function makeSecrets(api: Api, clusterId: string, all: Stranger[]): Promise<void> {
  const keys = all.flatMap(({ name }) => secretsIn(readPipeline(name, { isParsed: false })));
  for (const key of new Set(keys)) {
    const made = await api.send("POST", `/clusters/${clusterId}/secrets`, {
      body: { key, value: valueOfSecret(key) },
    });
    assert.equal(made.status, 201, made.text);
  }
}

/** The work of a job's command, instead of its own. */
type StandIn = (name: string, attempt: number) => { exitStatus: number; upload: object | undefined };

/**
 * Each agent takes what it is offered, until none is offered anything.
 * @returns whether any job ran
 */
async function runAll(
  crew: ScriptedAgent[],
  { standIn, run }: { standIn: StandIn; run: (agent: ScriptedAgent, job: BegunJob) => Promise<void> },
): Promise<boolean> {
  const attempts = new Map<string, number>();
  const runOne = async (agent: ScriptedAgent, id: string) => {
    const begun = await agent.begin(id);
    const { token, env } = begun;
    const name = nameOf({ step_key: env.BUILDKITE_STEP_KEY ?? null, name: env.BUILDKITE_LABEL ?? null });
    const attempt = attempts.get(name) ?? 0;
    attempts.set(name, attempt + 1);
    const { exitStatus, upload } = standIn(name, attempt);
    if (upload) {
      const { status, text } = await agent.send("POST", `/jobs/${id}/pipelines`, upload, token);
      assert.equal(status, 200, text);
    }
    await run(agent, { ...begun, id });
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
