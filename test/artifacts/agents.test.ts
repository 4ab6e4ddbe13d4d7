import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { it } from "node:test";
import { type AcceptedJob, type ArtifactFile, PublicAgent, versions } from "../agents/public-agent.ts";
import { openAgentApi } from "../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { repeat } from "../helpers/run-mode.ts";

describeWorldOn(sqlite, "artifacts of the public agent", openAgentApi, (api) => {
  for (const version of versions.slice(-repeat(1, versions.length))) {
    /** Runs the jobs of a build, one after the other, in one agent. */
    const inJobs = async (
      steps: object[],
      run: (agent: PublicAgent, job: AcceptedJob, index: number) => Promise<void>,
    ) => {
      const { key } = await api.newQueue();
      const { id } = await api.newPipeline({
        steps: steps.map((step) => ({ command: "make", ...step, agents: { queue: key } })),
      });
      await api.build(id);
      const agent = new PublicAgent(api.world.url, version);
      try {
        await agent.start(api.agentToken, key);
        for (const index of steps.keys()) {
          const { job } = await agent.ping();
          const accepted = await agent.accept(job?.id ?? assert.fail("a job is offered"));
          await agent.run(accepted);
          await run(agent, accepted, index);
          await agent.finish(accepted);
        }
      } finally {
        agent.close();
      }
    };
    const buildOf = ({ env }: AcceptedJob) => env.BUILDKITE_BUILD_ID as string;
    const find = async (agent: PublicAgent, job: AcceptedJob, query: Record<string, string>) => {
      const { status, body, text } = await agent.searchArtifacts(job, buildOf(job), query);
      assert.equal(status, 200, text);
      return body;
    };
    const assertDownloads = async (agent: PublicAgent, job: AcceptedJob, files: ArtifactFile[]) => {
      for (const { path, bytes } of files) {
        const [found, ...others] = await find(agent, job, { query: path });
        assert.deepEqual(
          [found?.path, found?.file_size, found?.sha1sum, others.length],
          [path, bytes.length, hash("sha1", bytes), 0],
        );
        const { status, bytes: received } = await agent.download(found.url);
        assert.equal(status, 200);
        assert.ok(received.equals(bytes), path);
      }
    };

    it(`v${version.version} uploads files of any size and name, and downloads them in a later job`, async () => {
      const files = [
        { path: "empty", bytes: Buffer.alloc(0) },
        { path: "one", bytes: Buffer.from("1") },
        { path: "log/100 KB.bin", bytes: randomBytes(100 * 1024) },
        { path: "5 MB.bin", bytes: randomBytes(5 * 1024 * 1024) },
        { path: "../outside/a", bytes: Buffer.from("outside") },
        { path: "with space/ünï ☃.txt", bytes: Buffer.from("snow") },
        { path: 'quo"te;a=b/%2e%2e/x\ty', bytes: Buffer.from("quotes") },
      ];
      await inJobs([{ artifact_paths: ["log/*", "x"] }, {}], async (agent, job, index) => {
        assert.equal(job.env.BUILDKITE_ARTIFACT_PATHS, index === 0 ? "log/*;x" : undefined);
        if (index === 0) await agent.uploadArtifacts(job, files);
        else await assertDownloads(agent, job, files);
      });
    });

    it(`v${version.version} uploads 120 files in batches, and finds them by patterns`, async () => {
      const files = Array.from({ length: 120 }, (_, index) => ({
        path: `out/${index % 2 ? "odd" : "even"}/${index}.txt`,
        bytes: Buffer.from(`file ${index}`),
      }));
      await inJobs([{}], async (agent, job) => {
        await agent.uploadArtifacts(job, files);

        const odd = await find(agent, job, { query: "out/odd/*" });
        assert.deepEqual(
          odd.map(({ path }: ArtifactFile) => path),
          files.map(({ path }) => path).filter((path) => path.includes("odd")),
        );
        assert.equal((await find(agent, job, { query: "*" })).length, 120);
        assert.equal((await find(agent, job, { query: "out/*/1*9.txt" })).length, 3);
        assert.deepEqual(await find(agent, job, { query: "out/odd" }), []);
        assert.deepEqual(await find(agent, job, { query: "out/odd/[0-9].txt" }), []);
        await assertDownloads(agent, job, files.slice(0, 3));
      });
    });

    it(`v${version.version} tells the same path of several jobs apart, also with backslashes`, async () => {
      const path = "dist\\app.zip";
      const steps = [{ key: "one", label: "Build one" }, { key: "two" }];
      await inJobs(steps, async (agent, job, index) => {
        const file = { path, bytes: Buffer.from(`of job ${index}`) };
        await agent.uploadArtifacts(job, [file]);
        if (index === 0) return;

        const textOf = async (query: Record<string, string>) => {
          const found = await find(agent, job, query);
          assert.equal(found.length, 1);
          return (await agent.download(found[0].url)).text;
        };
        const query = "dist/app.zip";
        assert.equal(await textOf({ query: "dist/*" }), "of job 1");
        assert.equal(await textOf({ query, scope: "one" }), "of job 0");
        assert.equal(await textOf({ query: path, scope: "Build one" }), "of job 0");
        assert.equal(await textOf({ query, scope: job.id }), "of job 1");
        assert.equal((await find(agent, job, { query, include_duplicates: "true" })).length, 2);
        const { status, body } = await agent.searchArtifacts(job, buildOf(job), { query });
        assert.equal(status, 400);
        assert.match(body.message, /^Multiple artifacts were found for query: `dist\/app.zip`\. Try scoping/);
      });
    });
  }
});
