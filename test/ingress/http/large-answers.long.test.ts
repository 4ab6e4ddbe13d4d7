import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, get as openGet } from "node:http";
import { before, it } from "node:test";
import { maxPerPage } from "../../../ingress/http/number-pager.ts";
import { newScriptJob } from "../../../shared/builds/making/jobs.ts";
import { insertJobs } from "../../../shared/builds/rows/job-store.ts";
import { newIds } from "../../../shared/ids.ts";
import { createPipeline, updatePipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { eventually } from "../../helpers/http.ts";

const large = 8;
const maxDownloads = 4;

describeWorldOn(sqlite, "answers of many megabytes", openApi, (api) => {
  const pipelines: Pipeline[] = [];

  before(async () => {
    const { services } = api.world;
    const steps = Array.from({ length: 100 }, (_, index) => ({ command: `${index} é${"x".repeat(9900)}` }));
    for (let number = 1; number <= large; number++) {
      const name = `large-${number}`;
      const input = { clusterId: api.acme.cluster.id, slug: name, name, steps };
      pipelines.push(await createPipeline(services, api.acme.operator, input));
    }
  });

  /** Asks for the list. Its answer waits until it is read. */
  const open = async (): Promise<IncomingMessage> => {
    const url = `${api.world.url}/v2/organizations/acme/pipelines?per_page=${maxPerPage}`;
    const sent = openGet(url, { headers: { Authorization: `Bearer ${api.adminToken}` }, agent: false });
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return answer;
  };
  const read = async (answer: IncomingMessage) =>
    JSON.parse(Buffer.concat(await answer.toArray()).toString());

  it("are whole: each pipeline of a list has its steps", async () => {
    const answer = await open();
    const list: { slug: string; steps: { command: string }[] }[] = await read(answer);

    assert.equal(answer.headers["content-type"], "application/json;charset=UTF-8");
    assert.equal(list.length, large + 1);
    for (const { slug, steps } of pipelines)
      assert.deepEqual(
        list.find((each) => each.slug === slug)?.steps.map((step) => ({ command: step.command })),
        steps,
      );
  });

  it("are read as the client reads: a change that comes meanwhile is in them", async () => {
    const answer = await open();
    await once(answer, "readable");
    const last = pipelines.at(-1) as Pipeline;
    const command = `changed at ${performance.now()}`;

    await updatePipeline(api.world.services, api.acme.operator, last, { steps: [{ command }] });

    const list = await read(answer);
    assert.deepEqual(
      list.at(-1).steps.map((step: { command: string }) => step.command),
      [command],
    );
  });

  it("are four at a time for a token: the next is 429, and a small answer goes on", async () => {
    const answers = await Promise.all(Array.from({ length: maxDownloads }, open));

    const [refused, small] = [await open(), await api.send("GET", "/pipelines?per_page=1")];

    assert.deepEqual([refused.statusCode, refused.headers["retry-after"]], [429, "5"]);
    assert.deepEqual([small.status, small.body.length], [200, 1]);
    for (const answer of [...answers, refused]) answer.destroy();
    await eventually("room", async () => {
      const answer = await open();
      answer.destroy();
      return answer.statusCode === 200;
    });
  });

  it("are not refused once something has changed: a build of 2,000 jobs is 201", async () => {
    const step = { command: "x".repeat(7000), parallelism: 100 };
    const pipeline = await api.newPipeline({ steps: Array(20).fill(step) });
    const answers = await Promise.all(Array.from({ length: maxDownloads }, open));

    const made = await api.send("POST", `/pipelines/${pipeline.slug}/builds`, { body: {} });

    assert.deepEqual([made.status, made.body.number, made.body.jobs.length], [201, 1, 2000]);
    for (const answer of answers) answer.destroy();
  });

  it("have all jobs of a build in the order of its steps, retried ones if asked for", async () => {
    const labels = ["first", null, "third"];
    const steps = labels.map((label) => ({
      command: `${label} ${"x".repeat(7000)}`,
      ...(label && { label, key: label }),
      parallelism: 40,
      env: { SECRET: "not shown" },
    }));
    const pipeline = await api.newPipeline({ steps });
    const path = `/pipelines/${pipeline.slug}/builds`;
    const { id: buildId, jobs: made } = (await api.send("POST", path, { body: {} })).body;
    const { db, clock } = api.world.services;
    const [id = ""] = newIds(clock.now(), 1);
    const retried = { ...newScriptJob({ id, buildId, createdAt: clock.now() }), position: 0, command: "old" };
    await db.transaction((tx) => insertJobs(tx, [{ ...retried, retriedInJobId: made[0].id }]));

    const jobs: Record<string, unknown>[] = (await api.send("GET", `${path}/1`)).body.jobs;
    const all: { command: string }[] = (await api.send("GET", `${path}/1?include_retried_jobs=true`)).body
      .jobs;

    assert.deepEqual(jobs, made);
    const expected = steps.flatMap(({ command, label = null, key = null }) =>
      Array.from({ length: 40 }, (_, index) => [command, label, key, index, 40]),
    );
    assert.deepEqual(
      jobs.map((job) => [
        ...[job.command, job.name, job.step_key],
        ...[job.parallel_group_index, job.parallel_group_total],
      ]),
      expected,
    );
    assert.deepEqual([all.length, all.filter(({ command }) => command === "old").length], [121, 1]);
  });

  it("have the pipeline of each build of a list", async () => {
    for (const { id } of [...pipelines.slice(0, 6), ...pipelines.slice(0, 2)]) await api.build(id);

    const list: { pipeline: Pipeline }[] = (await api.send("GET", "/builds?exclude_jobs=true&per_page=8"))
      .body;

    assert.deepEqual(
      list.map(({ pipeline }) => pipeline.slug),
      [2, 1, 6, 5, 4, 3, 2, 1].map((number) => `large-${number}`),
    );
    for (const { pipeline } of list) assert.equal(pipeline.steps.length, 100);
  });
});
