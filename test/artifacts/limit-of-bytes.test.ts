import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, it } from "node:test";
import { evictArtifacts } from "../../shared/artifacts/evict.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { secondMs } from "../../shared/durations.ts";
import { type AcceptedJob, PublicAgent, type UploadForm, versions } from "../agents/public-agent.ts";
import { agentTokenOf } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";

const limit = 1000;

describeOnBothDatabases("artifacts of an organization beyond its limit", (database) => {
  let api: Api;
  let agents: PublicAgent[] = [];
  beforeEach(async () => {
    api = await openApi(database, {
      ARTIFACT_BYTES_PER_ORGANIZATION: String(limit),
      STORED_BYTES_PER_ORGANIZATION: String(1024 ** 3),
    });
  });
  afterEach(async () => {
    for (const agent of agents) agent.close();
    agents = [];
    await api.close();
  });

  const startJob = async () => {
    const { key } = await api.newQueue();
    const { id } = await api.newPipeline({ steps: [{ command: "make", agents: { queue: key } }] });
    await api.build(id);
    const agent = new PublicAgent(api.world.url, versions.at(-1) ?? assert.fail());
    agents.push(agent);
    await agent.start(await agentTokenOf(api.world, api.acme.cluster), key);
    const job = await agent.accept((await agent.ping()).job?.id ?? assert.fail());
    await agent.run(job);
    return { agent, job };
  };
  const announce = ({ agent, job }: { agent: PublicAgent; job: AcceptedJob }, size: number, more = {}) =>
    agent.send("POST", `/jobs/${job.id}/artifacts`, {
      json: {
        id: randomUUID(),
        artifacts: [{ path: `${size}`, file_size: size, sha1sum: "0".repeat(40) }],
        ...more,
      },
      token: job.token,
    });
  const totalBytes = async () => {
    const { db } = api.world.services;
    const rows = await db.select().from(db.tables.artifactTotals);
    return rows.reduce((sum, { bytes }) => sum + bytes, 0);
  };

  it("are announced up to as much again, however many jobs announce at once", async () => {
    const jobs = [await startJob(), await startJob(), await startJob(), await startJob()];

    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => announce(jobs[index % jobs.length] ?? assert.fail(), 300)),
    );

    const statuses = answers.map(({ status }) => status);
    assert.deepEqual([...new Set(statuses)].sort(), [200, 429]);
    assert.equal(statuses.filter((status) => status === 200).length, 6);
    const refused = answers.find(({ status }) => status === 429) ?? assert.fail();
    assert.equal(refused.headers["retry-after"], "60");
    assert.match(refused.body.message, /wait a minute, in which the oldest expire/);
    assert.equal(await totalBytes(), 1800);
    const elsewhere = { upload_destination: "s3://bucket" };
    assert.equal((await announce(jobs[0] ?? assert.fail(), 300, elsewhere)).status, 200);
    assert.equal((await announce(jobs[0] ?? assert.fail(), limit + 1)).status, 403);
  });

  it("expire before the bytes of new ones have come, which are then announced", async () => {
    const started = await startJob();
    const { agent, job } = started;
    const ids: string[] = [];
    for (const path of ["a", "b", "c", "d"]) {
      ids.push(...(await agent.uploadArtifacts(job, [{ path, bytes: Buffer.alloc(450, path) }])));
      api.world.clock.advance(secondMs);
    }
    assert.equal((await announce(started, 450)).status, 429);

    assert.equal(await evictArtifacts(api.world.services), 2);

    assert.equal((await announce(started, 450)).status, 200);
    assert.equal(await evictArtifacts(api.world.services), 1);
    assert.equal(await totalBytes(), 900);
    const found = await Promise.all(ids.map((id) => api.world.services.blobs.find(artifactBlob(id))));
    assert.deepEqual(
      found.map((each) => each?.bytes),
      [undefined, undefined, undefined, 450],
    );
  });

  it("count once when their announcement is repeated, and when they are stored", async () => {
    const { agent, job } = await startJob();
    const file = { path: "a", bytes: Buffer.alloc(400) };
    const id = randomUUID();
    const { body } = await agent.announceArtifacts(job, [file], { id });
    await agent.announceArtifacts(job, [file], { id });
    const form = body.upload_instructions as UploadForm;

    for (const _ of ["once", "again"]) assert.equal((await agent.sendArtifact(form, file)).status, 200);

    assert.equal(await totalBytes(), 400);
  });
});
