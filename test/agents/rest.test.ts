import assert from "node:assert/strict";
import { before, it } from "node:test";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { base, graphqlId, openApi, timestamp, unknownId, webBase } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("…/agents", openApi, (api) => {
  let token: string;
  before(async () => {
    token = await agentTokenOf(api.world, api.acme.cluster);
  });

  const start = (given = {}) => startAgent(api.world.url, token, given);
  const put = (agent: Pick<ScriptedAgent, "id">, verb: string, body?: object) =>
    api.send("PUT", `/agents/${agent.id}/${verb}`, body && { body });
  const read = async ({ id }: Pick<ScriptedAgent, "id">) => (await api.send("GET", `/agents/${id}`)).body;
  const pinged = async (agent: ScriptedAgent) => (await agent.ping()).action;

  it("shows an agent with its job", async () => {
    await api.build(api.acme.pipeline.id);
    const agent = await start({ name: "shown", hostname: "basement", meta_data: ["gpu=yes"], priority: "7" });
    const jobId = await agent.offered();
    await agent.begin(jobId ?? "");

    const { job, ...shown } = await read(agent);

    assert.match(shown.created_at, timestamp);
    assert.match(shown.connected_at, timestamp);
    assert.deepEqual(
      { ...shown, created_at: "", connected_at: "", user_agent: "", ip_address: "" },
      {
        id: agent.id,
        graphql_id: graphqlId("Agent", agent.id),
        url: `${base}/agents/${agent.id}`,
        web_url: `${webBase}/agents/${agent.id}`,
        name: "shown",
        connection_state: "connected",
        cluster_id: api.acme.cluster.id,
        cluster_queue_id: api.acme.queue.id,
        hostname: "basement",
        ip_address: "",
        user_agent: "",
        version: "3.137.0",
        arch: "amd64",
        queue: api.acme.queue.key,
        created_at: "",
        connected_at: "",
        disconnected_at: null,
        lost_at: null,
        stopped_at: null,
        last_job_finished_at: null,
        lost_job_id: null,
        priority: 7,
        meta_data: [`queue=${api.acme.queue.key}`, "gpu=yes"],
        paused: false,
        paused_at: null,
        paused_by: null,
        paused_note: null,
        paused_timeout_in_minutes: null,
      },
    );
    assert.deepEqual([job.id, job.state, job.agent.name], [jobId, "running", "shown"]);
    const [build] = (await api.send("GET", "/builds")).body;
    assert.equal(build.jobs[0].agent.id, agent.id);
    await agent.finish(jobId ?? "");
    assert.match((await read(agent)).last_job_finished_at, timestamp);
    await agent.send("POST", "/disconnect"); // jobs are left to it for a while
  });

  it("shows the signal that ended a job's command, and its reason", async () => {
    await api.build(api.acme.pipeline.id);
    const agent = await start({ name: "signaled" });
    const jobId = (await agent.offered()) ?? "";
    const { token } = await agent.begin(jobId);
    const signalOf = async () => {
      const [build] = (await api.send("GET", "/builds")).body;
      const { exit_status, signal, signal_reason } = build.jobs[0];
      return [exit_status, signal, signal_reason];
    };
    assert.deepEqual(await signalOf(), [null, null, null]);

    const ending = { exit_status: "-1", signal: "SIGTERM", signal_reason: "agent_stop".repeat(20) };
    await agent.send("PUT", `/jobs/${jobId}/finish`, ending, token);

    assert.deepEqual(await signalOf(), [-1, "SIGTERM", "agent_stop".repeat(10)], "cut at 100 characters");
  });

  it("lists connected agents in pages, and filters them exactly", async () => {
    const first = await start({ name: "list-1", hostname: "list", version: "3.20.0" });
    const second = await start({ name: "list-2", hostname: "list" });
    const gone = await start({ name: "list-3", hostname: "list" });
    await gone.send("POST", "/disconnect");
    const named = async (query: string) =>
      (await api.send("GET", `/agents?${query}`)).body.map(({ name }: { name: string }) => name);

    assert.deepEqual(await named("hostname=list"), ["list-1", "list-2"]);
    assert.deepEqual(await named(`name=${second.name}`), ["list-2"]);
    assert.deepEqual(await named("hostname=list&version=3.20.0"), ["list-1"]);
    assert.deepEqual(await named("hostname=lis"), []);
    assert.deepEqual(await named("name=%00"), []);
    assert.deepEqual(await named("hostname=list&name="), ["list-1", "list-2"]);
    const page = await api.send("GET", "/agents?hostname=list&per_page=1");
    assert.equal(page.body[0].id, first.id);
    assert.match(page.headers.get("link") ?? "", /hostname=list.*rel="next"/);
    assert.equal((await read(gone)).connection_state, "disconnected");
  });

  it("pauses an agent with a note and for a time, and resumes it", async () => {
    const agent = await start({ name: "paused" });
    const paused = await put(agent, "pause", { note: "New disks", timeout_in_minutes: 5 });

    assert.equal(paused.status, 200);
    const { paused_at, paused_by, ...rest } = paused.body;
    assert.match(paused_at, timestamp);
    assert.equal(paused_by.id, api.admin.id);
    assert.deepEqual([rest.paused, rest.paused_note, rest.paused_timeout_in_minutes], [true, "New disks", 5]);
    assert.equal(await pinged(agent), "pause");
    const again = await put(agent, "pause", {});
    assert.deepEqual([again.status, again.body.message], [422, "Agent is already paused"]);

    assert.equal((await put(agent, "resume")).body.paused, false);
    assert.equal(await pinged(agent), "idle");
    const notPaused = await put(agent, "resume", {});
    assert.deepEqual([notPaused.status, notPaused.body.message], [422, "Agent is not paused"]);
  });

  it("ends a pause after its time", async () => {
    const agent = await start({ name: "timed" });
    await put(agent, "pause", { timeout_in_minutes: 1 });

    api.world.clock.advance(61_000);

    assert.equal((await read(agent)).paused, false);
    assert.equal((await put(agent, "pause")).status, 200);
  });

  it("stops an agent after its job, or with it", async () => {
    await api.build(api.acme.pipeline.id, 2);
    const [patient, forced] = [await start({ name: "patient" }), await start({ name: "forced" })];
    const jobs = [];
    for (const agent of [patient, forced]) {
      const jobId = (await agent.offered()) ?? "";
      await agent.begin(jobId);
      jobs.push(jobId);
    }

    assert.equal((await put(patient, "stop")).body.connection_state, "stopping");
    assert.equal((await put(forced, "stop", { force: true })).body.job.state, "canceling");
    assert.equal((await put(patient, "stop", { force: false })).status, 200);

    assert.equal((await read(patient)).job.state, "running");
    await patient.finish(jobs[0] ?? "");
    await forced.finish(jobs[1] ?? "", -1);
    for (const agent of [patient, forced]) {
      assert.equal(await pinged(agent), "disconnect");
      await agent.send("POST", "/disconnect");
      assert.equal((await read(agent)).connection_state, "stopped");
      const late = await put(agent, "stop");
      assert.deepEqual([late.status, late.body.message], [422, "Agent has disconnected"]);
    }
  });

  it("refuses malformed bodies", async () => {
    const agent = await start({ name: "refused" });
    const message = async (verb: string, body: object) => {
      const answer = await put(agent, verb, body);
      return [answer.status, answer.body.message];
    };
    const minutes = "Timeout in minutes must be a whole number from 1 to 10080";

    assert.deepEqual(await message("stop", { force: "yes" }), [422, "Force must be true or false"]);
    assert.deepEqual(await message("pause", { note: 7 }), [422, "Note must be text"]);
    for (const timeout_in_minutes of [0, 1.5, 10_081, "5"])
      assert.deepEqual(await message("pause", { timeout_in_minutes }), [422, minutes]);
  });

  it("answers 404 for an unknown agent", async () => {
    for (const id of [unknownId, "x", api.acme.cluster.id])
      assert.deepEqual((await api.send("GET", `/agents/${id}`)).body, { message: "No agent found" });
  });
});

describeWorld("…/jobs/:id", openApi, (api) => {
  const newJob = async () => {
    const { id, slug } = await api.newPipeline();
    await api.build(id);
    const build = `/pipelines/${slug}/builds/1`;
    const job = (await api.send("GET", build)).body.jobs[0];
    return { build, job, path: `${build}/jobs/${job.id}` };
  };
  const put = async (path: string) => {
    const { status, body } = await api.send("PUT", path);
    return { status, body, answer: [status, body.message] };
  };

  it("cancels a job, once", async () => {
    const { path, job, build } = await newJob();

    const canceled = await put(`${path}/cancel`);

    assert.deepEqual([canceled.status, canceled.body.id, canceled.body.state], [200, job.id, "canceled"]);
    assert.equal((await api.send("GET", build)).body.state, "failed");
    assert.deepEqual((await put(`${path}/cancel`)).answer, [
      422,
      "Job cannot be canceled: it has finished already",
    ]);
  });

  it("retries a job as a new one, which takes its place in the build", async () => {
    const { path, job, build } = await newJob();
    assert.deepEqual((await put(`${path}/retry`)).answer, [
      422,
      "Job cannot be retried: it has not finished",
    ]);
    await put(`${path}/cancel`);

    const retry = await put(`${path}/retry`);

    assert.notEqual(retry.body.id, job.id);
    assert.deepEqual(
      [retry.status, retry.body.state, retry.body.retries_count, retry.body.retry_type],
      [200, "scheduled", 1, "manual"],
    );
    const shown = async (query = "") =>
      (await api.send("GET", build + query)).body.jobs.map(({ id }: { id: string }) => id);
    assert.deepEqual(await shown(), [retry.body.id]);
    assert.deepEqual(await shown("?include_retried_jobs=true"), [job.id, retry.body.id]);
    assert.deepEqual((await put(`${path}/retry`)).answer, [
      422,
      "Job cannot be retried: it has been retried already",
    ]);
  });

  it("shows the variables of a job", async () => {
    const { path } = await newJob();
    const reader = await api.tokenOf(api.admin, ["read_job_env"]);

    const { status, body } = await api.send("GET", `${path}/env`, { token: reader });

    assert.equal(status, 200);
    assert.ok(Object.keys(body.env).length > 0);
  });

  it("answers 404 for a job of another build", async () => {
    const [mine, other] = [await newJob(), await newJob()];
    for (const id of [other.job.id, unknownId, "x"])
      assert.deepEqual((await put(`${mine.build}/jobs/${id}/cancel`)).answer, [404, "No job found"]);
  });
});
