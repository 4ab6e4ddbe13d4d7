import assert from "node:assert/strict";
import { it } from "node:test";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { updateSecretIfPresent } from "../../shared/secrets/store.ts";
import { openAgentApi, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { unique } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

const sshKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nswordfish\n-----END OPENSSH PRIVATE KEY-----\n";

describeWorldOn(sqlite, "the ssh_secret of a checkout", openAgentApi, (api) => {
  const newSecret = async (body: object = {}, cluster = api.acme.cluster.id) => {
    const sent = { key: unique("KEY").replace("-", "_"), value: sshKey, ...body };
    const created = await api.send("POST", `/clusters/${cluster}/secrets`, { body: sent });
    assert.equal(created.status, 201, created.text);
    return { key: sent.key, id: created.body.id as string };
  };
  const build = async (ssh_secret: string, step: object = {}) => {
    const { key: queue } = await api.newQueue();
    const pipeline = await api.newPipeline({
      repository: "git@git.example.com:site.git",
      steps: [{ command: "make", agents: { queue }, checkout: { ssh_secret }, ...step }],
    });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const newAgent = (more: object = {}) =>
      startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${queue}`], ...more });
    return {
      path,
      newAgent,
      slug: pipeline.slug,
      agent: await newAgent(),
      read: async () => (await api.send("GET", `${path}?include_retried_jobs=true`)).body,
    };
  };
  const accept = async (agent: ScriptedAgent) => agent.send("PUT", `/jobs/${await agent.offered()}/accept`);

  it("is given to the agent that accepts the job, and to nobody else", async () => {
    const { key, id } = await newSecret();
    const { agent, path, read } = await build(key.toLowerCase());
    const job = (await agent.offered()) as string;

    for (const times of [1, 2]) {
      const { status, body } = await agent.send("PUT", `/jobs/${job}/accept`);
      assert.deepEqual([status, body.env?.BUILDKITE_GIT_SSH_KEY], [200, sshKey], `${times}`);
    }

    const env = await api.send("GET", `${path}/jobs/${job}/env`);
    assert.equal(env.status, 200);
    assert.equal(env.body.env.BUILDKITE_REPO, "git@git.example.com:site.git");
    const { db } = api.world.services;
    const rows = [await db.select().from(db.tables.jobs), await db.select().from(db.tables.builds)];
    const told = [env.text, JSON.stringify(await read()), JSON.stringify(rows), api.world.logged.join("")];
    for (const text of told) assert.doesNotMatch(text, /swordfish|GIT_SSH_KEY/);
    const secret = await api.send("GET", `/clusters/${api.acme.cluster.id}/secrets/${id}`);
    assert.notEqual(secret.body.last_read_at, null);
  });

  it("is the value of the moment, and wins over a variable", async () => {
    const { key, id } = await newSecret();
    const { agent } = await build(key, { env: { BUILDKITE_GIT_SSH_KEY: "of the step" } });
    const body = { value: "another key" };
    await api.send("PUT", `/clusters/${api.acme.cluster.id}/secrets/${id}/value`, { body });

    assert.equal((await accept(agent)).body.env.BUILDKITE_GIT_SSH_KEY, "another key");
  });

  it("fails the job without the secret, and a retry runs once there is one", async () => {
    const { agent, path, read, newAgent } = await build("NOT_YET");
    const job = await agent.offered();

    const { status, body } = await agent.send("PUT", `/jobs/${job}/accept`);

    const reason = "Its checkout needs the secret NOT_YET, which its cluster does not have";
    assert.deepEqual([status, body.message], [422, `The job has failed. ${reason}`]);
    const failed = await read();
    assert.deepEqual(
      [failed.state, failed.jobs[0].state, failed.jobs[0].exit_status, failed.jobs[0].signal_reason],
      ["failed", "failed", -1, "stack_error"],
    );
    const { db } = api.world.services;
    const rows = await db.select().from(db.tables.jobs);
    assert.equal(rows.find(({ id }) => id === job)?.failureReason, reason);
    assert.equal((await agent.send("PUT", `/jobs/${job}/accept`)).status, 404);
    assert.equal((await agent.ping()).action, "idle", "it is free");

    await newSecret({ key: "NOT_YET" });
    await api.send("PUT", `${path}/jobs/${job}/retry`);
    const next = await newAgent();
    assert.equal((await accept(next)).body.env.BUILDKITE_GIT_SSH_KEY, sshKey);
  });

  it("obeys the policy of the secret", async () => {
    const { key: queue } = await api.newQueue();
    const { key, id } = await newSecret({ policy: `- cluster_queue_key: ${queue}` });
    const { agent, read, path } = await build(key);

    const { status, body } = await accept(agent);

    const reason = `Its checkout needs the secret ${key}, whose policy does not let this job read it`;
    assert.deepEqual([status, body.message], [422, `The job has failed. ${reason}`]);
    const change = { policy: "- build_branch: main\n  build_source: webhook" };
    await api.send("PUT", `/clusters/${api.acme.cluster.id}/secrets/${id}`, { body: change });
    await api.send("PUT", `${path}/jobs/${(await read()).jobs[0].id}/retry`);
    assert.equal((await accept(agent)).body.env.BUILDKITE_GIT_SSH_KEY, sshKey);
  });

  it("is no secret of another cluster", async () => {
    const { key } = await newSecret({}, (await api.newCluster()).id);
    const { agent } = await build(key);
    assert.match((await accept(agent)).body.message, /which its cluster does not have$/);
  });

  it("fails the job if SECRET_KEY does not open it", async () => {
    const { key, id } = await newSecret();
    const other = createCipher("another key that is at least 32 characters");
    const valueSealed = other.seal(sshKey, sealedPlaces.valueOfSecret(id));
    await api.world.services.db.transaction((tx) => updateSecretIfPresent(tx, id, { valueSealed }));
    const { agent, read } = await build(key);

    const { status, body } = await accept(agent);

    assert.deepEqual(
      [status, body.message],
      [422, `The job has failed. Its checkout needs the secret ${key}, which SECRET_KEY does not open`],
    );
    assert.equal((await read()).state, "failed");
  });

  it("is retried by rules as often as they say", async () => {
    const automatic = { exit_status: -1, signal_reason: "stack_error", limit: 2 };
    const { agent, read } = await build("NOWHERE", { retry: { automatic } });

    for (const times of [1, 2, 3]) assert.equal((await accept(agent)).status, 422, `${times}`);

    assert.equal((await agent.ping()).action, "idle");
    const { state, jobs } = await read();
    assert.deepEqual([state, jobs.length], ["failed", 3]);
  });

  it("fails a job that an agent acquires, too", async () => {
    const { read, newAgent } = await build("NOWHERE");
    const acquiring = await newAgent({ ignore_in_dispatches: true });
    const [{ id }] = (await read()).jobs;

    const { status, body } = await acquiring.send("PUT", `/jobs/${id}/acquire`);

    assert.equal(status, 422);
    assert.match(body.message, /^The job has failed\. Its checkout needs the secret NOWHERE/);
  });

  it("fails with agent_incompatible at an agent that cannot use it", async () => {
    const { key } = await newSecret();
    const { agent, read, newAgent } = await build(key, {
      retry: { automatic: { exit_status: -1, signal_reason: "agent_incompatible", limit: 1 } },
    });
    await agent.send("POST", "/disconnect");
    const [old, recent] = [await newAgent({ version: "3.127.5" }), await newAgent({ version: "3.128.0" })];

    const { status, body } = await accept(old);

    const reason =
      "Its checkout has an ssh_secret, which agents use since version 3.128. The agent has 3.127.5";
    assert.deepEqual([status, body.message], [422, `The job has failed. ${reason}`]);
    assert.equal((await read()).jobs[0].signal_reason, "agent_incompatible");
    assert.equal((await accept(recent)).body.env.BUILDKITE_GIT_SSH_KEY, sshKey);
  });
});
