import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, it } from "node:test";
import { downloadUrl } from "../../shared/artifacts/signatures.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { newJob } from "../agents/logs/jobs-with-logs.ts";
import { type AcceptedJob, type ArtifactFile, PublicAgent, versions } from "../agents/public-agent.ts";
import { type S3Server, startS3 } from "../blobs/s3/server.ts";
import { agentTokenOf } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { leaveArtifact } from "./left-by-job.ts";

const mb = 1024 ** 2;

describeOnSqlite("artifacts in a bucket", (database) => {
  let server: S3Server;
  let api: Api;

  before(async () => {
    server = await startS3();
    api = await openApi(database, { BLOB_URL: server.url });
    await api.world.startWorkers();
  });
  after(async () => {
    await api.close();
    await server[Symbol.asyncDispose]();
  });

  const inJob = async (
    version: (typeof versions)[number],
    run: (agent: PublicAgent, job: AcceptedJob) => Promise<void>,
  ) => {
    const { key } = await api.newQueue();
    const { id } = await api.newPipeline({ steps: [{ command: "make", agents: { queue: key } }] });
    await api.build(id);
    const agent = new PublicAgent(api.world.url, version);
    try {
      await agent.start(await agentTokenOf(api.world, api.acme.cluster), key);
      const job = await agent.accept((await agent.ping()).job?.id ?? assert.fail());
      await agent.run(job);
      await run(agent, job);
    } finally {
      agent.close();
    }
  };
  const find = async (agent: PublicAgent, job: AcceptedJob, query: string) =>
    (await agent.searchArtifacts(job, job.env.BUILDKITE_BUILD_ID as string, { query })).body;

  for (const version of versions)
    it(`are uploaded and downloaded by v${version.version}, large ones in parts if it can`, async () => {
      const files: ArtifactFile[] = [
        { path: "empty", bytes: Buffer.alloc(0) },
        { path: "small ünï", bytes: randomBytes(100 * 1024) },
        { path: "large", bytes: randomBytes((version.sendsArtifactTypes ? 70 : 5) * mb) },
      ];
      await inJob(version, async (agent, job) => {
        const { body } = await agent.announceArtifacts(job, files);
        const parts = Object.values(body.per_artifact_instructions ?? {}) as { actions: unknown[] }[];
        assert.deepEqual(
          parts.map(({ actions }) => actions.length),
          version.sendsArtifactTypes ? [2] : [],
        );

        await agent.uploadArtifacts(job, files);

        for (const { path, bytes } of files) {
          const [{ url }] = await find(agent, job, path);
          const { bytes: received, headers } = await agent.download(url);
          assert.ok(received.equals(bytes), path);
          assert.match(headers["content-disposition"] ?? "", /^attachment/);
        }
      });
    });

  it("are 410 if it does not have them, as after a change from files to a bucket", async () => {
    const { services, url, logged } = api.world;
    const left = await leaveArtifact(services, await newJob(services, api.acme), { path: "in files" });
    const { pathname, search } = new URL(downloadUrl(services, left.id));

    for (const through of ["", "&through"]) {
      const answer = await fetch(`${url}${pathname}${search}${through}`, { redirect: "manual" });
      assert.equal(answer.status, 410);
      assert.match(await answer.text(), /not in the store.*BLOB_URL/);
    }

    assert.ok(logged.some((line) => line.includes("bytes of a finished artifact are missing")));
  });

  it("are not finished if their parts are not what was announced", async () => {
    await inJob(versions.at(-1) ?? assert.fail(), async (agent, job) => {
      const file = { path: "changed", bytes: randomBytes(6 * mb) };
      const { body } = await agent.announceArtifacts(job, [file]);
      const [id] = body.artifact_ids;
      const { actions } = body.per_artifact_instructions[id];
      const report = (more: object) =>
        agent.send("PUT", `/jobs/${job.id}/artifacts`, {
          json: { artifacts: [{ id, state: "finished", ...more }] },
          token: job.token,
        });

      assert.equal((await report({})).status, 422, "without parts");
      const wrong = { multipart_etags: [{ part_number: 1, etag: '"0"' }] };
      assert.equal((await report(wrong)).status, 422, "of other parts");
      const changed = { ...file, bytes: Buffer.concat([file.bytes.subarray(1), Buffer.from("x")]) };
      const sent = await agent.sendParts(actions, changed);
      assert.equal((await report(sent)).status, 422, "of another content");

      assert.deepEqual(await find(agent, job, "*"), []);
      assert.equal(await api.world.services.blobs.find(artifactBlob(id)), undefined);
      assert.equal((await report(sent)).status, 422, "again");
    });
  });
});
