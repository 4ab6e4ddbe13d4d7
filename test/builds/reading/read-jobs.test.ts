import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openAgentApi, type ScriptedAgent } from "../../helpers/agent.ts";
import { base, timestamp, unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

type Job = Record<string, unknown> & { id: string; command: string | null; state: string };

describeWorld("jobs in REST", openAgentApi, (api) => {
  const make = async (...steps: (string | Record<string, unknown>)[]) => {
    const { queue, pipeline, path, read, newAgent } = await api.buildOnQueue(...steps);
    const jobs = async () => (await read()).jobs as Job[];
    const start = (tags: string[] = []) => newAgent({ meta_data: tags });
    return { key: queue.key, queueId: queue.id, slug: pipeline.slug, path, jobs, start };
  };
  const reprioritize = (path: string, priority: unknown) =>
    api.send("PUT", `${path}/reprioritize`, { body: { priority } });
  const end = async (agent: ScriptedAgent, status: number) => {
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);
    await agent.finish(job, status, token);
    return job;
  };

  describe("a job", () => {
    it("has its step, tags, priority and matrix", async () => {
      const { key, queueId, path, jobs } = await make({
        command: "make {{matrix}}",
        key: "k",
        priority: 3,
        agents: { os: "linux", gpu: "*" },
        matrix: ["a"],
      });
      const signature = { algorithm: "HS512", signed_fields: ["command"], value: "x" };
      const signed = await make({ command: "make", signature });

      const [job] = await jobs();
      const [{ step, matrix, group_key } = assert.fail()] = await signed.jobs();

      const { id: cluster } = api.acme.cluster;
      assert.deepEqual(
        [job?.command, job?.step_key, job?.group_key, job?.priority, job?.matrix, job?.step],
        ["make a", "k", null, { number: 3 }, { "": "a" }, { id: job?.id, signature: null }],
      );
      assert.deepEqual(job?.agent_query_rules, [`queue=${key}`, "gpu", "os=linux"]);
      assert.deepEqual(
        [job?.cluster_id, job?.cluster_url, job?.cluster_queue_id, job?.cluster_queue_url],
        [cluster, `${base}/clusters/${cluster}`, queueId, `${base}/clusters/${cluster}/queues/${queueId}`],
      );
      assert.match(String(job?.runnable_at), timestamp);
      assert.equal(job?.runnable_at, job?.scheduled_at);
      assert.deepEqual(
        [job?.artifact_paths, job?.broken_reason, job?.retry_source, job?.expired_at],
        [null, null, null, null],
      );
      assert.deepEqual(
        [(step as { signature: unknown }).signature, matrix, group_key],
        [signature, null, null],
      );
      assert.deepEqual((await api.send("GET", `${path}/jobs/${job?.id}`)).body, job);
    });

    it("says why it waits, alone and in lists", async () => {
      const { path, jobs } = await make(
        { command: "a", agents: { os: "linux" } },
        "wait",
        { command: "b" },
        { command: "c", depends_on: "later" },
      );
      const [first, , second, third] = await jobs();
      const steps = { kind: "steps", missing_keys: [], has_more: false, job_ids: [first?.id] };
      const expected = [
        { kind: "no_agent", tags: ["os=linux"] },
        steps,
        steps,
        { ...steps, missing_keys: ["later"], job_ids: [] },
      ];
      const reasonsOf = (all: Job[]) => all.map(({ waiting_reason }) => waiting_reason);

      assert.deepEqual(reasonsOf(await jobs()), expected);
      assert.deepEqual(reasonsOf((await api.send("GET", `${path}/jobs`)).body.items), expected);
      for (const [index, job] of [first, undefined, second, third].entries())
        if (job)
          assert.deepEqual(
            (await api.send("GET", `${path}/jobs/${job.id}`)).body.waiting_reason,
            expected[index],
          );
    });

    it("says why it was left out, and the key of its group", async () => {
      const { jobs } = await make(
        { command: "a", if: "false" },
        { command: "b", branches: "other" },
        { command: "c", skip: "too slow" },
        { group: "G", key: "g", steps: [{ wait: null, key: "w" }] },
        { command: "d" },
      );

      assert.deepEqual(
        (await jobs()).map(({ type, state, broken_reason, group_key, step_key }) => [
          type,
          state,
          broken_reason,
          group_key,
          step_key,
        ]),
        [
          ["script", "broken", "conditional_failed", null, null],
          ["script", "broken", "branch_mismatch", null, null],
          ["script", "broken", "too slow", null, null],
          ["waiter", "passed", null, "g", "w"],
          ["script", "scheduled", null, null, null],
        ],
      );
    });

    it("that replaces another names it", async () => {
      const { path, jobs, start } = await make({ command: "a", retry: { automatic: { exit_status: 1 } } });
      const failed = await end(await start(), 1);

      const [retry] = await jobs();

      assert.deepEqual(retry?.retry_source, { job_id: failed, retry_type: "automatic" });
      const { body } = await api.send("GET", `${path}/jobs/${failed}`);
      assert.deepEqual([body.retried_in_job_id, body.retry_source], [retry?.id, null]);
    });

    it("that was canceled behind a wait and is retried holds the wait back no more", async () => {
      const { path, jobs, start } = await make(
        { command: "first", priority: 1 },
        "wait",
        { command: "second" },
        { command: "ahead" },
      );
      const ahead = (await jobs()).at(-1);
      await api.send("PUT", `${path}/jobs/${ahead?.id}/cancel`);
      assert.equal((await api.send("PUT", `${path}/jobs/${ahead?.id}/retry`)).status, 200);

      await end(await start(), 0);

      const states = (await jobs()).map(({ state }) => state);
      assert.deepEqual(states, ["passed", "passed", "scheduled", "scheduled"]);
    });

    it("is 404 below another build, and in another organization", async () => {
      const one = await make({ command: "a" });
      const other = await make({ command: "b" });
      const [job] = await one.jobs();

      for (const path of [
        `${other.path}/jobs/${job?.id}`,
        `/jobs/${unknownId}`,
        "/jobs/x",
        `${one.path}/jobs/x`,
      ]) {
        const { status, body } = await api.send("GET", path);
        assert.deepEqual([status, body], [404, { message: "No job found" }], path);
      }
    });

    it("has a short address, with its log and retry", async () => {
      const { path, jobs, start } = await make({ command: "a" });
      const id = await end(await start(), 1);
      const [job] = await jobs();

      assert.deepEqual((await api.send("GET", `/jobs/${id}`)).body, job);
      const { body: log } = await api.send("GET", `/jobs/${id}/log`);
      assert.deepEqual(log, (await api.send("GET", `${path}/jobs/${id}/log`)).body);
      assert.equal(log.url, `${base}${path}/jobs/${id}/log`);
      for (const kind of ["txt", "html"])
        assert.equal((await api.send("GET", `/jobs/${id}/log.${kind}`)).status, 200);
      const retried = await api.send("PUT", `/jobs/${id}/retry`);
      assert.deepEqual([retried.status, retried.body.retry_source.job_id], [200, id]);
    });
  });

  describe("PUT …/reprioritize", () => {
    it("lets a waiting job overtake those before it", async () => {
      const { path, jobs, start } = await make({ command: "a" }, { command: "b" }, "wait", { command: "c" });
      const [, b, , c] = await jobs();

      for (const [job, at] of [
        [b, `${path}/jobs/${b?.id}`],
        [c, `/jobs/${c?.id}`],
      ] as const) {
        const { status, body } = await reprioritize(at, 5);
        assert.deepEqual([status, body.id, body.priority], [200, job?.id, { number: 5 }]);
      }

      assert.equal(await (await start()).offered(), b?.id);
      const { db } = api.world.services;
      const audited = await db.select().from(db.tables.auditEvents);
      assert.ok(audited.some(({ action }) => action === "changed the priority of a job of"));
    });

    it("is 422 once an agent has the job, and 404 for a wait", async () => {
      const { jobs, start } = await make({ command: "a" }, "wait");
      const [job, wait] = await jobs();
      await (await start()).offered();

      const taken = await reprioritize(`/jobs/${job?.id}`, 1);
      const message = "Job cannot be reprioritized: an agent has it, or it has finished";
      assert.deepEqual([taken.status, taken.body], [422, { message }]);
      assert.equal((await reprioritize(`/jobs/${wait?.id}`, 1)).status, 404);
    });

    it("is 422 for what is no whole number", async () => {
      const { jobs } = await make({ command: "a" });
      const [job] = await jobs();
      for (const priority of [undefined, null, "1", 1.5, 2 ** 31]) {
        const { status, body } = await reprioritize(`/jobs/${job?.id}`, priority);
        const message =
          "Validation failed: Priority must be a whole number from -2,147,483,647 to 2,147,483,647";
        assert.deepEqual([status, body], [422, { message }], String(priority));
      }
    });
  });

  describe("GET …/jobs", () => {
    it("lists the jobs of a build in the order of its steps, page by page", async () => {
      const { path, jobs } = await make({ command: "a", parallelism: 3 }, "wait", { command: "b" });
      const expected = await jobs();

      const first = (await api.send("GET", `${path}/jobs?per_page=2`)).body;
      const next = (await api.send("GET", pathOf(first.links.next))).body;
      const last = (await api.send("GET", pathOf(next.links.next))).body;

      assert.deepEqual([...first.items, ...next.items, ...last.items], expected);
      assert.deepEqual(Object.keys(first.links), ["self", "next"]);
      assert.deepEqual(Object.keys(last.links), ["self", "first", "prev"]);
      assert.deepEqual((await api.send("GET", pathOf(last.links.prev))).body.items, next.items);
      assert.deepEqual((await api.send("GET", pathOf(next.links.prev))).body.items, first.items);
      assert.deepEqual((await api.send("GET", `${path}/jobs`)).body.items, expected);
    });

    it("has retried jobs too, unless they are left out", async () => {
      const { path, jobs, start } = await make({ command: "a" });
      const failed = await end(await start(), 1);
      await api.send("PUT", `/jobs/${failed}/retry`);
      const [retry] = await jobs();

      const ids = async (query = "") =>
        (await api.send("GET", `${path}/jobs${query}`)).body.items.map(({ id }: Job) => id);

      assert.deepEqual(await ids(), [failed, retry?.id]);
      assert.deepEqual(await ids("?include_retried_jobs=false"), [retry?.id]);
      assert.deepEqual(await ids("?state[]=failed"), [failed]);
    });

    it("filters by state and by the keys of steps and groups", async () => {
      const { path } = await make(
        { command: "a", key: "a", parallelism: 2 },
        { group: "G", key: "g", steps: [{ command: "b", key: "b" }, "wait"] },
        { command: "c", skip: true },
      );
      const commands = async (query: string) => {
        const { status, body, text } = await api.send("GET", `${path}/jobs?${query}`);
        assert.equal(status, 200, text);
        return body.items.map(({ command }: Job) => command);
      };

      assert.deepEqual(await commands("step_key=a"), ["a", "a"]);
      assert.deepEqual(await commands("step_key=b&group_key=g"), ["b"]);
      assert.deepEqual(await commands("group_key=g"), ["b", null]);
      assert.deepEqual(await commands("step_key=none"), []);
      assert.deepEqual(await commands("state[]=broken&state[]=waiting"), [null, "c"]);
      assert.deepEqual(await commands("state=finished"), []);
      assert.deepEqual(await commands("state=limited"), []);
      for (const [query, reason] of [
        ["state=nope", "State nope is not a job state"],
        ["step=a", "There is no filter step"],
        ["step_key=%00", "step_key must be text without NUL"],
      ] as const) {
        const { status, body } = await api.send("GET", `${path}/jobs?${query}`);
        assert.deepEqual([status, body], [422, { message: `Validation failed: ${reason}` }]);
      }
      assert.equal((await api.send("GET", `${path}/jobs?after=x`)).status, 400);
    });
  });
});

function pathOf(link: string): string {
  assert.ok(link.startsWith(base), link);
  return link.slice(base.length);
}
