import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { it } from "node:test";
import { type AcceptedJob, type ArtifactFile, type PublicAgent, versions } from "../agents/public-agent.ts";
import { buildOf, runJobs } from "../agents/run-jobs.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { repeat } from "../helpers/run-mode.ts";

interface Found extends ArtifactFile {
  id: string;
  job_id: string;
  sha1sum: string;
  sha256sum: string;
  url: string;
}

describeWorldOn(sqlite, "a search of the public agent for artifacts", openApi, (api) => {
  const file = (path: string, text: string) => ({ path, bytes: Buffer.from(text) });
  const search = async (agent: PublicAgent, job: AcceptedJob, query: object, buildId = buildOf(job)) => {
    const { status, body, text } = await agent.searchArtifacts(job, buildId, { ...query });
    assert.equal(status, 200, text);
    return body as Found[];
  };
  const texts = async (agent: PublicAgent, found: Found[]) =>
    Promise.all(found.map(async ({ url }) => (await agent.download(url)).text));

  for (const version of versions.slice(-repeat(1, versions.length))) {
    const inJobs = (steps: (string | object)[], run: Parameters<typeof runJobs>[3]) =>
      runJobs(api, version, steps, run);

    it(`v${version.version} finds one of each parallel job with their step as scope`, async () => {
      const steps = [{ key: "tests", label: "Tests %n", parallelism: 3 }, "wait", { key: "report" }];
      await inJobs(steps, async (agent, job, index) => {
        if (index < 3) {
          const place = job.env.BUILDKITE_PARALLEL_JOB;
          await agent.uploadArtifacts(job, [
            file("junit.xml", `of ${place}`),
            file(`out/${place}.txt`, `${place}`),
          ]);
          return;
        }

        const find = (query: object) => search(agent, job, query);
        const ofStep = await find({ query: "junit*", scope: "tests" });
        assert.deepEqual((await texts(agent, ofStep)).sort(), ["of 0", "of 1", "of 2"]);
        assert.equal((await find({ query: "junit*" })).length, 1);
        assert.equal((await find({ query: "*/*.txt", scope: "tests" })).length, 3);
        assert.deepEqual(await texts(agent, await find({ query: "junit.xml", scope: "Tests 1" })), ["of 1"]);
        assert.deepEqual(await find({ query: "*", scope: "report" }), []);
        const exact = await agent.searchArtifacts(job, buildOf(job), { query: "junit.xml", scope: "tests" });
        assert.equal(exact.status, 400);
      });
    });

    it(`v${version.version} finds artifacts of retried jobs on request only`, async () => {
      const flaky = { key: "flaky", retry: { automatic: { limit: 1 } } };
      let first: AcceptedJob | undefined;
      await inJobs([flaky, { type: "wait", continue_on_failure: true }, {}], async (agent, job, index) => {
        if (index < 2) {
          first ??= job;
          await agent.uploadArtifacts(job, [file("log.txt", `attempt ${index}`), file(`${index}.txt`, "x")]);
          return index === 0 ? 1 : 0;
        }

        const find = (query: object) => search(agent, job, query);
        assert.deepEqual(await texts(agent, await find({ query: "log.txt" })), ["attempt 1"]);
        assert.deepEqual(await find({ query: "0.txt" }), []);
        assert.deepEqual(await texts(agent, await find({ query: "log*", scope: "flaky" })), ["attempt 1"]);
        const all = { include_retried_jobs: "true", include_duplicates: "true" };
        assert.equal((await find({ query: "*", ...all })).length, 4);
        const ofStep = await find({ query: "log*", scope: "flaky", include_retried_jobs: "true" });
        assert.deepEqual(await texts(agent, ofStep), ["attempt 0", "attempt 1"]);
        const ofFirst = await find({ query: "log.txt", scope: first?.id });
        assert.deepEqual(await texts(agent, ofFirst), ["attempt 0"]);
        return 0;
      });
    });

    it(`v${version.version} finds artifacts of another build of the cluster, and of no other cluster`, async () => {
      const other = await api.newCluster();
      const builds: string[] = [];
      const leave = async (agent: PublicAgent, job: AcceptedJob) => {
        builds.push(buildOf(job));
        await agent.uploadArtifacts(job, [file("app.zip", `build ${builds.length}`)]);
      };
      await inJobs([{}], leave);
      await runJobs(api, version, [{}], leave, { ...api.acme.cluster, id: other.id });

      await inJobs([{}], async (agent, job) => {
        const [own = "", foreign = ""] = builds;
        const [found, ...others] = await search(agent, job, { query: "app.zip" }, own);
        assert.ok(found);
        assert.deepEqual([await texts(agent, [found]), others], [["build 1"], []]);
        assert.equal(found.sha1sum, hash("sha1", "build 1"));
        assert.equal(found.sha256sum, version.sendsArtifactTypes ? hash("sha256", "build 1") : "");
        assert.equal((await agent.searchArtifacts(job, foreign, { query: "*" })).status, 404);
      });
    });

    it(`v${version.version} may lose any answer: what it sends again at once changes nothing`, async () => {
      await inJobs([{}], async (agent, job) => {
        // Patterns of old agents overlap: the same file is there twice.
        const files = [file("a.txt", "a"), file("b.txt", "b"), file("a.txt", "a")];
        const id = randomUUID();
        const announced = await Promise.all([1, 2, 3].map(() => agent.announceArtifacts(job, files, { id })));
        const [{ artifact_ids: ids, upload_instructions: form }] = announced.map(({ body }) => body);
        for (const { body } of announced) assert.deepEqual(body.artifact_ids, ids);
        const differing = await agent.send("POST", `/jobs/${job.id}/artifacts`, {
          json: { id, artifacts: [{ path: "c.txt", file_size: 1, sha1sum: hash("sha1", "c") }] },
          token: job.token,
        });
        assert.equal(differing.status, 422);

        for (const each of files) {
          const sent = await Promise.all([each, each].map((again) => agent.sendArtifact(form, again)));
          assert.deepEqual(
            sent.map(({ status }) => status),
            [200, 200],
          );
        }
        const json = { artifacts: ids.map((each: string) => ({ id: each, state: "finished" })) };
        const report = () => agent.send("PUT", `/jobs/${job.id}/artifacts`, { json, token: job.token });
        const reports = await Promise.all([report(), report(), report()]);
        assert.deepEqual(
          reports.map(({ status, text }) => [status, text]),
          Array(3).fill([200, reports[0]?.text]),
        );

        const found = await search(agent, job, { query: "*", include_duplicates: "true" });
        assert.deepEqual(
          found.map((each) => each.id),
          ids,
        );
        assert.deepEqual(await texts(agent, found), ["a", "b", "a"]);
      });
    });
  }
});
