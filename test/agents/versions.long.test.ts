import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { agentTokenOf } from "../helpers/agent.ts";
import { unknownId } from "../helpers/api.ts";
import { buildOfDelivery } from "../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";
import { PublicAgent, type Version, versions } from "./public-agent.ts";

const secret = "a secret of the sender";
/** Odd bytes that JSON need not keep. */
const payload = '{"ref":  "refs/heads/main", "text": "wörld \\u00e9 🚀",\t"n": 1.0}\n';
const sha = "0123456789abcdef0123456789abcdef01234567";

describeWorldOn(sqlite, "the public agent", openTriggerApi, (api) => {
  let token: string;
  let logToken: string;

  before(async () => {
    token = await agentTokenOf(api.world, api.acme.cluster);
    logToken = await api.acme.token("read_build_logs");
  });

  /** A pipeline with a queue of its own, and a build of a signed webhook. */
  const setUp = async () => {
    const queue = await api.newQueue();
    const { slug } = await api.newPipeline({
      steps: [{ command: "agent meta-data get", agents: { queue: queue.key } }],
    });
    const trigger = await api.newTrigger(
      { type: "github", verification: { strategy: "hmac", secret } },
      slug,
    );
    const headers = { "X-GitHub-Event": "push", "X-Hub-Signature-256": await sign(secret, payload) };
    const id = await api.deliver(trigger, payload, headers);
    await api.work(id);
    assert.ok(await buildOfDelivery(api.world, id));
    const build = async () => (await api.send("GET", `/pipelines/${slug}/builds/1`)).body;
    const log = async (jobId: string) =>
      (await api.send("GET", `/pipelines/${slug}/builds/1/jobs/${jobId}/log.txt`, { token: logToken })).text;
    return { queue, slug, build, log };
  };

  const offered = async (agent: PublicAgent) => {
    const { job } = await agent.ping();
    assert.ok(job, "a job is offered");
    return job.id;
  };

  for (const version of versions) {
    const itWith = (title: string, run: (agent: PublicAgent) => Promise<void>) =>
      it(`v${version.version} ${title}`, async () => {
        const agent = new PublicAgent(api.world.url, version);
        try {
          await run(agent);
        } finally {
          agent.close();
        }
      });

    itWith("runs a signed webhook's build, whose log has the payload's bytes", async (agent) => {
      const { queue, build, log } = await setUp();
      await agent.start(token, queue.key);

      const jobId = await offered(agent);
      assert.equal(await offered(agent), jobId, "until it is accepted");
      const job = await agent.accept(jobId);
      assertEnvironment(job.env, version);
      await agent.run(job);
      const commit = { key: "buildkite:git:commit", value: `commit ${sha}\nabbrev-commit 0123456` };
      assert.equal((await agent.data(job, "exists", { key: commit.key })).body.exists, false);
      await agent.data(job, "set", commit);
      const { value } = (await agent.data(job, "get", { key: "service:webhook" })).body;
      assert.equal(value, payload);
      assert.deepEqual((await agent.data(job, "keys")).body, [commit.key, "service:webhook"]);
      await agent.upload(job, [{ command: "later", agents: { queue: queue.key } }]);
      const mark = version.sendsHeaderTimes ? "" : "\u001b_bk;t=1795277535900\u0007";
      const text = `${mark}~~~ Running commands\r\n${mark}${value}`;
      await agent.log(job, Buffer.from(text), 7);
      await agent.finish(job);

      assert.equal(await log(jobId), text);
      const later = await agent.accept(await offered(agent));
      assert.equal(later.env.BUILDKITE_COMMAND, "later");
      await agent.run(later);
      await agent.finish(later);
      assert.equal((await agent.ping()).action, "idle");
      const { state, commit: resolved } = await build();
      assert.deepEqual([state, resolved], ["passed", sha]);
      assert.equal((await agent.send("POST", "/disconnect")).status, 200);
      assert.equal((await agent.send("GET", "/ping")).status, 401);
    });

    itWith("gets the same variables of a checkout", async (agent) => {
      const { queue, slug } = await setUp();
      const agents = { queue: queue.key };
      await api.send("PATCH", `/pipelines/${slug}`, {
        body: {
          repository: "https://git.example.com/site.git",
          configuration: JSON.stringify({
            checkout: { depth: 3, submodules: false },
            steps: [{ command: "make", agents, checkout: { lfs: true, flags: { clone: "-q" } } }],
          }),
        },
      });
      await api.send("POST", `/pipelines/${slug}/builds`, { body: { commit: sha } });
      await api.send("PUT", `/pipelines/${slug}/builds/1/cancel`);
      await agent.start(token, queue.key);

      const job = await agent.accept(await offered(agent));
      assert.deepEqual(checkoutOf(job.env), {
        BUILDKITE_GIT_SUBMODULES: "false",
        BUILDKITE_GIT_LFS_ENABLED: "true",
        BUILDKITE_GIT_CLONE_FLAGS: "-q --depth=3",
        BUILDKITE_GIT_FETCH_FLAGS: "--depth=3",
      });
      await agent.run(job);
      await agent.data(job, "set", { key: "buildkite:git:commit", value: `commit ${sha}` });
      const sparse = { paths: [".ci", "src"] };
      await agent.upload(job, [
        { command: "later", agents, checkout: { sparse, commit_verification: "strict" } },
      ]);
      await agent.finish(job);

      const later = await agent.accept(await offered(agent));
      assert.deepEqual(checkoutOf(later.env), {
        BUILDKITE_COMMIT_RESOLVED: "true",
        BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS: ".ci,src",
        BUILDKITE_GIT_COMMIT_VERIFICATION: "strict",
      });
      await agent.run(later);
      await agent.finish(later);
    });

    itWith("cancels its command, and sends the rest", async (agent) => {
      const { queue, slug, build, log } = await setUp();
      await agent.start(token, queue.key);
      const job = await agent.accept(await offered(agent));
      await agent.run(job);

      await api.send("PUT", `/pipelines/${slug}/builds/1/cancel`);
      const { body } = await agent.send("GET", `/jobs/${job.id}`, { token: job.token });
      await agent.log(job, Buffer.from("terminated\r\n"), 100);
      await agent.finish(job, version.hasJobToken ? "-1" : "1");

      assert.equal(body.state, "canceling");
      assert.equal((await build()).state, "canceled");
      assert.equal(await log(job.id), "terminated\r\n");
    });

    itWith("gets one clear sentence for what this server does not have", async (agent) => {
      const { queue } = await setUp();
      await agent.start(token, queue.key);
      const { id, token: jobToken } = await agent.accept(await offered(agent));
      const path = `/jobs/${id}/repository_access_token`;
      const { status, body } = await agent.send("POST", path, { token: jobToken });
      assert.equal(status, 404);
      assert.match(body.message, /^This server has no /);
    });

    itWith("reads, changes and cancels steps from inside a job, and its build", async (agent) => {
      const { queue, build } = await setUp();
      await agent.start(token, queue.key);
      const job = await agent.accept(await offered(agent));
      await agent.run(job);
      await agent.upload(job, [{ command: "later", key: "a.b", agents: { queue: queue.key } }]);
      const { id } = await build();
      const step = "/steps/a%2Eb";
      const get = async (attribute: string) =>
        (
          await agent.repeat("POST", `${step}/export`, {
            json: { attribute, build_id: id },
            token: job.token,
          })
        ).body.output;
      const update = { idempotency_uuid: randomUUID(), build_id: id, attribute: "label", append: true };

      assert.equal(await get("state"), "waiting_for_dependencies");
      await agent.repeat("PUT", step, { json: { ...update, value: "Later" }, token: job.token });
      assert.equal(await get("label"), "Later", "the second call changed nothing");
      await agent.repeat("POST", `${step}/cancel`, {
        json: { build_id: id, force: false, force_grace_period: 15 },
        token: job.token,
      });
      assert.deepEqual([await get("state"), await get("outcome")], ["finished", "errored"]);
      await agent.repeat("PUT", `/jobs/${job.id}`, { json: { timeout: "20" }, token: job.token });
      const promise = { exit_status: 3, reason: "a test failed" };
      const path = `/jobs/${job.id}/promise_failure`;
      const { status, text } = await agent.repeat("PUT", path, { json: promise, token: job.token });
      assert.deepEqual([status, text], [204, ""]);

      const canceled = await agent.repeat("POST", `/builds/${id}/cancel`, { token: job.token });
      assert.deepEqual(canceled.body, { uuid: id });
      await agent.finish(job);
      assert.equal((await build()).state, "canceled");
    });

    itWith("finds no artifact at once, and needs a token for that", async (agent) => {
      const { queue, build } = await setUp();
      await agent.start(token, queue.key);
      const { token: jobToken } = await agent.accept(await offered(agent));
      const search = (id: string, token: string) =>
        agent.send("GET", `/builds/${id}/artifacts/search?query=%2A&state=finished`, { token });
      const { id } = await build();
      const { status, text } = await search(id, jobToken);
      assert.deepEqual([status, text], [200, "[]"]);
      assert.equal((await search(unknownId, jobToken)).status, 404);
      assert.equal((await search(id, token)).status, 401, "of registration");
    });
  }

  for (const version of versions.filter(({ hasJobToken }) => hasJobToken)) {
    it(`v${version.version} controls itself from inside a job, and sets meta-data in a batch`, async () => {
      const { queue } = await setUp();
      const agent = new PublicAgent(api.world.url, version);
      await agent.start(token, queue.key);
      const job = await agent.accept(await offered(agent));
      await agent.run(job);
      const send = async (path: string, json?: object) =>
        (await agent.send("POST", path, { token: job.token, ...(json ? { json } : {}) })).status;

      await agent.data(job, "set-batch", { items: [{ key: "a.b", value: "1" }] });
      assert.equal((await agent.data(job, "get", { key: "a.b" })).body.value, "1");
      assert.equal(await send("/pause", { note: "disks", timeout_in_minutes: 5 }), 200);
      assert.equal((await agent.ping()).action, "pause");
      assert.equal(await send("/resume"), 200);
      assert.equal(await send("/stop", {}), 200);
      await agent.finish(job);
      assert.equal((await agent.ping()).action, "disconnect");
      assert.equal(await send("/stop"), 401, "its token ended with the attempt");
      agent.close();
    });

    it(`v${version.version} acquires a job, and waits while it is locked`, async () => {
      const { queue, build } = await setUp();
      const agent = new PublicAgent(api.world.url, version);
      await agent.start(token, queue.key, { ignore_in_dispatches: true });
      const [{ id }] = (await build()).jobs;
      assert.equal((await agent.ping()).action, "idle", "it is given none by a ping");

      await api.send("POST", `${api.queues}/${queue.id}/pause_dispatch`);
      assert.equal((await agent.acquire(id)).status, 423);
      await api.send("POST", `${api.queues}/${queue.id}/resume_dispatch`);
      const { status, body } = await agent.acquire(id, 1);
      assert.equal(status, 200);
      assert.equal((await agent.acquire(id, 2)).status, 200, "a lost answer");
      await agent.run(body);
      await agent.finish(body);

      assert.equal((await build()).state, "passed");
      assert.equal((await agent.acquire(id)).status, 422);
      agent.close();
    });
  }
});

function checkoutOf(env: Record<string, string>): Record<string, string> {
  const names = /^BUILDKITE_(?:GIT_|SKIP_|BOOTSTRAP_|COMMIT_RESOLVED)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.test(name)));
}

function assertEnvironment(env: Record<string, string>, { version, hasJobToken }: Version): void {
  for (const name of ["JOB_ID", "COMMIT", "BRANCH", "AGENT_NAME", "ORGANIZATION_SLUG", "PIPELINE_SLUG"])
    assert.ok(env[`BUILDKITE_${name}`], name);
  assert.equal(env.BUILDKITE_PIPELINE_PROVIDER, "git");
  assert.equal(env.BUILDKITE_PULL_REQUEST, "false");
  assert.equal(env.BUILDKITE_AGENT_META_DATA_OS, "linux");
  assert.equal(env.BUILDKITE_REPO, "none");
  const skips = { BUILDKITE_SKIP_CHECKOUT: "true" };
  const phases = { BUILDKITE_BOOTSTRAP_PHASES: "plugin,command" };
  const expected = hasJobToken ? skips : phases;
  const sent = Object.keys(env).filter((name) => name in { ...skips, ...phases });
  assert.deepEqual(sent, Object.keys(expected), version);
  for (const value of Object.values(env)) assert.equal(typeof value, "string");
}
