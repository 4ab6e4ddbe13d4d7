import assert from "node:assert/strict";
import { it } from "node:test";
import { hourMs } from "../../shared/durations.ts";
import { enterJob } from "../agents/inside/in-a-job.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

describeWorldOn(sqlite, "GET /v3/jobs/{job}/secrets", openApi, (api) => {
  let made = 0;
  const newSecret = async (body: object = {}, cluster = api.acme.cluster.id) => {
    const sent = { key: `SECRET_${++made}`, value: `value ${made}`, ...body };
    const created = await api.send("POST", `/clusters/${cluster}/secrets`, { body: sent });
    assert.equal(created.status, 201, created.text);
    return { ...sent, id: created.body.id as string };
  };
  const read = (job: Awaited<ReturnType<typeof enterJob>>, key: string) =>
    job.send("GET", `/jobs/${job.job}/secrets?key=${encodeURIComponent(key)}`);

  it("gives a job the value of a secret of its cluster, in whatever case it asks", async () => {
    const secret = await newSecret({ value: " -----BEGIN KEY-----\nlïne\t2\r\n\n" });
    const job = await enterJob(api, { command: "make" });

    for (const key of [secret.key, secret.key.toLowerCase()]) {
      const { status, body, headers } = await read(job, key);
      assert.deepEqual([status, body], [200, { key: secret.key, value: secret.value, uuid: secret.id }]);
      assert.match(headers.get("cache-control") ?? "", /no-store/);
    }
    const replaced = { body: { value: "next" } };
    await api.send("PUT", `/clusters/${api.acme.cluster.id}/secrets/${secret.id}/value`, replaced);
    assert.equal((await read(job, secret.key)).body.value, "next");
    assert.doesNotMatch(api.world.logged.join(""), /BEGIN KEY/);
  });

  it("404 for what there is not, and what another cluster has", async () => {
    const other = await api.newCluster();
    await newSecret({ key: "ELSEWHERE" }, other.id);
    const job = await enterJob(api, { command: "make" });

    for (const key of ["ELSEWHERE", "NOTHING", "", "%", "a'b", "\0", "é".repeat(2000)]) {
      const { status, body } = await read(job, key);
      assert.deepEqual([status, body], [404, { message: "No secret found" }], key.slice(0, 20));
    }
    assert.equal((await job.send("GET", `/jobs/${job.job}/secrets`)).status, 404);
  });

  it("403 unless the job has all claims of a rule of the policy", async () => {
    const job = await enterJob(api, { command: "make" });
    const build = await job.build();
    const queue = (await api.send("GET", `${api.queues}`)).body.find(
      ({ key }: { key: string }) => key === job.key,
    );
    const claims = {
      pipeline_id: build.pipeline.id,
      pipeline_slug: job.slug,
      build_branch: "ma*",
      build_source: "webhook",
      cluster_queue_id: queue.id,
      cluster_queue_key: job.key,
    };
    const policy = `- ${Object.entries(claims)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n  ")}`;
    const open = await newSecret({ policy });
    const denied = { message: "The policy of the secret does not let this job read it" };

    assert.equal((await read(job, open.key)).status, 200);
    for (const name of Object.keys(claims)) {
      const closed = await newSecret({ policy: `${policy.replace(`${name}: `, `${name}: x`)}` });
      const { status, body } = await read(job, closed.key);
      assert.deepEqual([status, body], [403, denied], name);
    }
    const ofCreator = await newSecret({ policy: `- build_creator: ${api.admin.email}` });
    assert.equal((await read(job, ofCreator.key)).status, 403, "a webhook's build has no creator");
  });

  it("compares the creator of a build, not the author that somebody names", async () => {
    const { key } = await newSecret({ policy: `- build_creator: ${api.admin.email}` });
    const ofAuthor = await newSecret({ policy: "- build_creator: eve@example.com" });
    const { key: queue } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "make", agents: { queue } }] });
    const author = { name: "Eve", email: "eve@example.com" };
    const body = { commit: "HEAD", branch: "main", author };
    await api.send("POST", `/pipelines/${pipeline.slug}/builds`, { body });
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    const agent = await startAgent(api.world.url, registration, { meta_data: [`queue=${queue}`] });
    const id = (await agent.offered()) as string;
    const { token } = await agent.begin(id);

    const statusOf = async (name: string) =>
      (await agent.send("GET", `/jobs/${id}/secrets?key=${name}`, undefined, token)).status;
    assert.deepEqual([await statusOf(key), await statusOf(ofAuthor.key)], [200, 403]);
  });

  it("takes the token of the job and the session that runs it, and no other", async () => {
    const { key } = await newSecret();
    const job = await enterJob(api, { command: "make" });
    const other = await enterJob(api, { command: "make" });
    const at = `/jobs/${job.job}/secrets?key=${key}`;

    assert.equal((await job.agent.send("GET", at)).status, 200);
    assert.equal((await other.send("GET", at)).status, 404);
    assert.equal((await other.agent.send("GET", at)).status, 404);
    assert.equal((await job.agent.send("GET", at, undefined, "none")).status, 401);
    await job.finish();
    assert.equal((await job.send("GET", at)).status, 404, "the attempt has ended");
    assert.equal((await job.agent.send("GET", at)).status, 404);
  });

  it("stores when a secret was read, once an hour", async () => {
    const { key, id } = await newSecret();
    const job = await enterJob(api, { command: "make" });
    const lastRead = async () =>
      (await api.send("GET", `/clusters/${api.acme.cluster.id}/secrets/${id}`)).body.last_read_at;
    assert.equal(await lastRead(), null);

    await Promise.all([read(job, key), read(job, key), read(job, key)]);
    const first = await lastRead();
    api.world.clock.advance(hourMs / 2);
    await read(job, key);
    assert.equal(await lastRead(), first);
    api.world.clock.advance(hourMs);
    await read(job, key);

    assert.ok(first < (await lastRead()));
  });
});
