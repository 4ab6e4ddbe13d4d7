import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { findCluster } from "../../shared/clusters/store.ts";
import { issueToken } from "../../shared/crypto/tokens.ts";
import { minuteMs } from "../../shared/durations.ts";
import {
  agentTokenOf,
  openAgentApi,
  registration,
  type ScriptedAgent,
  sendAsAgent,
  startAgent,
} from "../helpers/agent.ts";
import { unknownId } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";

describeWorldOn(sqlite, "an agent's calls", openAgentApi, (api) => {
  let globex: TestOrganization;
  let token: string;

  before(async () => {
    globex = await setUpOrganization(api.world, "globex");
    token = api.agentToken;
  });

  const setUp = async (steps = 1) => {
    const { newAgent, read, ...site } = await api.buildOnQueue(...Array(steps).fill({}));
    return { ...site, agentOf: newAgent, build: () => read() };
  };
  /** An agent with a running job. */
  const setUpRunning = async (steps?: number) => {
    const parts = await setUp(steps);
    const agent = await parts.agentOf();
    const jobId = (await agent.offered()) as string;
    const { token: jobToken } = await agent.begin(jobId);
    return { ...parts, agent, jobId, jobToken, buildId: (await parts.build()).id as string };
  };
  const newCluster = async () => {
    const cluster = await findCluster(api.world.services.db, api.acme.id, (await api.newCluster()).id);
    assert.ok(cluster);
    return cluster;
  };
  const call = (given: string | undefined, { method, path, body, bytes }: Call) =>
    request(`${api.world.url}/v3${path}`, {
      method,
      headers: {
        ...(given === undefined ? {} : { Authorization: `Token ${given}` }),
        ...(bytes ? { "Content-Encoding": "gzip" } : {}),
        ...(body ? { "Content-Type": "application/json" } : {}),
      },
      ...(bytes ? { body: bytes } : {}),
      ...(body ? { body: JSON.stringify(body) } : {}),
    });

  describe("with a wrong token", () => {
    it("get 401 for a token that is missing, malformed, unknown, ended or of another kind", async () => {
      const ended = await setUpRunning();
      await ended.agent.finish(ended.jobId, 0, ended.jobToken);
      await ended.agent.send("POST", "/disconnect");
      const { agent, jobId, jobToken, buildId } = await setUpRunning();
      const never = [undefined, "x", `${token}x`, `${token} x`, api.adminToken, issueToken("access")];
      const registrations = [token, issueToken("agentRegistration")];
      const sessions = [agent.token, ended.agent.token, issueToken("agentSession")];
      const jobTokens = [jobToken, ended.jobToken, issueToken("job")];
      /** The tokens that are good for these calls are not among them. */
      const wrong: Record<Exclude<Kind, "data">, (string | undefined)[]> = {
        registrar: [...never, ...sessions, ...jobTokens, issueToken("agentRegistration")],
        session: [...never, ...registrations, ...jobTokens, ended.agent.token, issueToken("agentSession")],
        job: [...never, ...registrations, ended.agent.token, issueToken("agentSession"), issueToken("job")],
        control: [
          ...never,
          ...registrations,
          ended.agent.token,
          ended.jobToken,
          issueToken("agentSession"),
          issueToken("job"),
        ],
      };
      for (const each of callsOf(jobId, buildId))
        for (const given of wrong[each.kind === "data" ? "control" : each.kind]) {
          const { status, body, headers } = await call(given, each);
          if (isFinish(each) && given === ended.agent.token) {
            assert.equal(status, 422, "a session that is over");
            continue;
          }
          assert.equal(status, 401, `${each.method} ${each.path} with ${given?.slice(0, 12)}`);
          assert.match(body.message, /^Authentication required/);
          assert.match(headers.get("www-authenticate") ?? "", /^Token realm=/);
        }
      assert.equal((await agent.finish(jobId, 0, jobToken)).status, 200, "nothing was changed");
    });

    it("get 404 for a job or build of another agent, cluster or organization", async () => {
      const { jobId, buildId, agent } = await setUpRunning();
      const other = await setUpRunning();
      const cluster = await newCluster();
      const queue = await api.newQueue({}, cluster.id);
      const meta_data = [`queue=${queue.key}`];
      const elsewhere = await startAgent(api.world.url, await agentTokenOf(api.world, cluster), {
        meta_data,
      });
      const foreign = await startAgent(api.world.url, await agentTokenOf(api.world, globex.cluster));
      const idle = await other.agentOf();

      const calls = callsOf(jobId, buildId).filter(({ path }) => path.includes(jobId));
      for (const each of calls) {
        const isLease = !["accept", "acquire"].some((verb) => each.path.endsWith(verb));
        const tokens = [elsewhere.token, foreign.token, ...(isLease ? [other.agent.token] : [])];
        if (each.kind === "job" || each.kind === "data") tokens.push(other.jobToken);
        for (const given of tokens) {
          const { status, body } = await call(given, each);
          assert.equal(status, isFinish(each) ? 422 : 404, `${each.method} ${each.path}`);
          if (status === 404) assert.equal(body.message, "No job found");
        }
      }
      for (const each of callsOf(jobId, buildId).filter(({ path }) => path.includes(`/builds/${buildId}`)))
        for (const given of [other.agent.token, other.jobToken, idle.token, foreign.token])
          assert.equal((await call(given, each)).status, 404, each.path);
      assert.equal((await idle.send("PUT", `/jobs/${jobId}/accept`)).status, 404);
      assert.equal((await agent.finish(jobId)).status, 200, "nothing was changed");
    });

    it("get 404 for ids that are none", async () => {
      const { agent, jobToken } = await setUpRunning();
      for (const id of ["x", "0", "%00", "..%2F..", unknownId, "a".repeat(500)])
        for (const each of callsOf(id, id).filter(({ path }) => path.includes(id)))
          for (const given of each.kind === "session" ? [agent.token] : [agent.token, jobToken]) {
            const expected = isFinish(each) ? 422 : 404;
            assert.equal((await call(given, each)).status, expected, `${each.method} ${each.path}`);
          }
    });

    it("get 404 for an attempt that is over, and its agent hears canceled", async () => {
      const { agent, agentOf, jobId, jobToken, buildId, build } = await setUpRunning();
      await agent.send("POST", "/stop", { force: false });
      api.world.clock.advance(2 * minuteMs);
      await agent.send("POST", "/disconnect");
      const heard = async () => (await agent.send("GET", `/jobs/${jobId}`, undefined, jobToken)).body.state;
      assert.equal(await heard(), "canceled", "while it waits again");
      const second = await agentOf();
      assert.equal(await second.offered(), jobId);
      const { token: presentToken } = await second.begin(jobId);

      for (const each of callsOf(jobId, buildId).filter(({ kind }) => kind === "job")) {
        const isQuestion = each.method === "GET" || each.path.endsWith("/header_times");
        const { status } = await call(jobToken, each);
        if (!isQuestion) assert.equal(status, isFinish(each) ? 422 : 404, `${each.method} ${each.path}`);
      }
      assert.equal(await heard(), "canceled", "while another runs it");
      for (const each of callsOf(jobId, buildId).filter(({ kind }) => kind === "data"))
        assert.equal((await call(jobToken, each)).status, 401, each.path);
      assert.deepEqual(
        (await build()).jobs.map((job: { state: string }) => job.state),
        ["running"],
      );
      assert.equal((await second.finish(jobId, 0, presentToken)).status, 200);
    });
  });

  describe("to register", () => {
    const register = (given: string, body: object = {}) =>
      sendAsAgent(api.world.url, given, {
        method: "POST",
        path: "/register",
        body: { ...registration, ...body },
      });
    const queueOf = async (given: string, meta_data: string[] = []) => {
      const { status, body } = await register(given, { meta_data });
      if (status !== 200) return body.message;
      const { db } = api.world.services;
      const agent = (await db.select().from(db.tables.agents)).find(({ id }) => id === body.id);
      return agent?.queueId;
    };

    it("take the tag's queue, else the token's, else the cluster's default", async () => {
      const queue = await api.newQueue();
      const bound = await agentTokenOf(api.world, api.acme.cluster, { queueId: queue.id });
      assert.equal(await queueOf(token), api.acme.queue.id);
      assert.equal(await queueOf(token, ["os=linux", `queue=${queue.key}`]), queue.id);
      assert.equal(await queueOf(bound), queue.id);
      assert.equal(await queueOf(bound, [`queue=${queue.key}`]), queue.id);
    });

    it("have the tag of their queue, also if they did not send one", async () => {
      const queue = await api.newQueue();
      const bound = await agentTokenOf(api.world, api.acme.cluster, { queueId: queue.id });
      const tagsOf = async (given: string, meta_data: string[]) =>
        (await register(given, { meta_data })).body.meta_data;
      const tag = `queue=${queue.key}`;
      assert.deepEqual(await tagsOf(bound, []), [tag]);
      assert.deepEqual(await tagsOf(bound, ["os=linux", tag]), ["os=linux", tag]);
      assert.deepEqual(await tagsOf(token, ["os=linux"]), [`queue=${api.acme.queue.key}`, "os=linux"]);

      const agent = await startAgent(api.world.url, bound);
      const step = { command: "make", agents: { queue: queue.key } };
      await api.build((await api.newPipeline({ steps: [step] })).id);
      const { env } = await agent.begin((await agent.offered()) as string);
      assert.equal(env.BUILDKITE_AGENT_META_DATA_QUEUE, queue.key);
      assert.deepEqual((await api.send("GET", `/agents/${agent.id}`)).body.meta_data, [tag]);
    });

    it("are 422 without a queue that they may have", async () => {
      const [queue, second] = [await api.newQueue(), await api.newQueue()];
      const bound = await agentTokenOf(api.world, api.acme.cluster, { queueId: queue.id });
      const cluster = await newCluster();
      const elsewhere = await agentTokenOf(api.world, cluster);
      assert.match(await queueOf(token, ["queue=none"]), /^The cluster has no queue with the key none/);
      assert.match(await queueOf(token, ["queue="]), /^The cluster has no queue/);
      assert.match(await queueOf(token, [`queue=${queue.key}`, `queue=${second.key}`]), /only one queue tag/);
      assert.match(await queueOf(bound, [`queue=${second.key}`]), /registers agents of the queue/);
      assert.match(await queueOf(elsewhere), /^The cluster has no default queue/);
      assert.match(await queueOf(elsewhere, [`queue=${queue.key}`]), /^The cluster has no queue/);
      await api.send("DELETE", `${api.queues}/${queue.id}`);
      assert.match(await queueOf(token, [`queue=${queue.key}`]), /^The cluster has no queue/);
      assert.match(await queueOf(bound), /was deleted$/);
    });

    it("are 401 with a token that is expired, revoked or of a deleted cluster", async () => {
      const { world, acme } = api;
      const expiresAt = new Date(world.clock.now().getTime() + minuteMs);
      const expiring = await agentTokenOf(world, acme.cluster, { expiresAt });
      assert.equal((await register(expiring)).status, 200);
      world.clock.advance(minuteMs);
      assert.equal((await register(expiring)).status, 401);

      const made = await api.send("POST", `/clusters/${acme.cluster.id}/tokens`, {
        body: { description: "d" },
      });
      const agent = await startAgent(world.url, made.body.token);
      await api.send("DELETE", `/clusters/${acme.cluster.id}/tokens/${made.body.id}`);
      assert.equal((await register(made.body.token)).status, 401);
      assert.equal((await agent.ping()).action, "idle", "sessions go on");

      const cluster = await newCluster();
      const late = await agentTokenOf(world, cluster);
      assert.equal((await api.send("DELETE", `/clusters/${cluster.id}`)).status, 204);
      assert.equal((await register(late)).status, 401);
    });

    it("are 422 with members of other types, and cut long texts", async () => {
      for (const body of [
        { meta_data: "queue=default" },
        { meta_data: Array(101).fill("a=b") },
        { meta_data: [{}] },
      ])
        assert.equal((await register(token, body)).status, 422, JSON.stringify(body));
      assert.equal((await register(token, { os: "o".repeat(10_000) })).status, 200);
    });

    it("fill the placeholders of a name, and never leave it empty", async () => {
      const nameOf = async (name: string) => (await register(token, { name })).body.name;
      assert.equal(await nameOf("%hostname-%pid-%n"), "host-1-1");
      assert.match(await nameOf(""), /^host-\w{4}$/);
      assert.notEqual(await nameOf("%random"), "%random");
      assert.equal(await nameOf(" a\r\nb\u001b[31m\u009b2J\u202e "), "ab");
      assert.match(await nameOf("\n"), /^host-\w{4}$/);
    });

    it("take a tag of a machine whose name and value are as long as a cloud allows", async () => {
      const tag = `${"n".repeat(128)}=${"v".repeat(256)}`;
      const { status, body } = await register(token, { meta_data: [tag] });
      assert.equal(status, 200);
      assert.ok(body.meta_data.includes(tag));
    });

    it("refuse tags of more than 4 KB together, in bytes", async () => {
      const most = Array.from(
        { length: 20 },
        (_, index) => `${"é".repeat(100)}=${String(index).padStart(3, "0")}`,
      );
      assert.equal(Buffer.byteLength(most.join("")), 4080);

      assert.equal((await register(token, { meta_data: [...most, "a=".padEnd(16, "b")] })).status, 200);
      const { status, body } = await register(token, { meta_data: [...most, "a=".padEnd(17, "b")] });

      const message = "The tags have more than 4 KB together: give fewer or shorter ones";
      assert.deepEqual([status, body.message], [422, message]);
    });

    it("refuse a name of more than 255 characters once it is filled", async () => {
      const longest = "n".repeat(251);
      const { body } = await register(token, { name: `${longest}%hostname` });
      assert.equal(body.name.length, 255);
      for (const name of ["n".repeat(256), `${longest}-%hostname`]) {
        const { status, body: refusal } = await register(token, { name });
        assert.equal(status, 422);
        assert.match(refusal.message, /^Name is longer than 255 characters/);
      }
    });
  });

  describe("of a session", () => {
    it("that stops: the job goes on, a reserved one goes to another agent, a forced stop cancels", async () => {
      const { agent, jobId, jobToken, agentOf } = await setUpRunning(2);
      const second = await agentOf();
      const reserved = await second.offered();
      assert.equal((await second.send("POST", "/stop")).status, 200);
      assert.equal((await second.ping()).action, "disconnect");
      const third = await agentOf();
      assert.equal(await third.offered(), reserved);

      assert.equal((await agent.send("POST", "/stop", { force: false }, jobToken)).status, 200);
      const state = async () => (await agent.send("GET", `/jobs/${jobId}`, undefined, jobToken)).body.state;
      assert.equal(await state(), "running");
      assert.equal((await agent.send("POST", "/stop", { force: true }, jobToken)).status, 200);
      assert.equal(await state(), "canceling");
      assert.equal((await agent.send("POST", "/stop", { force: "yes" })).status, 422);
    });

    it("that is paused gets no job until it is resumed, or its time is over", async () => {
      const { agentOf } = await setUp();
      const agent = await agentOf();
      const action = async () => (await agent.ping()).action;
      assert.equal((await agent.send("POST", "/resume")).status, 422);
      assert.equal((await agent.send("POST", "/pause", { note: "disks" })).status, 200);
      assert.equal((await agent.send("POST", "/pause", {})).status, 422);
      const { action: paused, message } = await agent.ping();
      assert.deepEqual([paused, message], ["pause", "disks"]);
      assert.equal((await agent.send("POST", "/resume")).status, 200);
      assert.equal(await action(), "run");
      await agent.send("POST", "/pause", { timeout_in_minutes: 5 });
      assert.equal(await action(), "pause");
      api.world.clock.advance(5 * minuteMs);
      assert.equal(await action(), "run");
      for (const timeout_in_minutes of [0, 10_081, 1.5, "5"])
        assert.equal((await agent.send("POST", "/pause", { timeout_in_minutes })).status, 422);
      for (const note of [7, "n".repeat(2001)])
        assert.equal((await agent.send("POST", "/pause", { note })).status, 422);
      assert.equal((await agent.send("POST", "/pause", { note: "n".repeat(2000) })).status, 200);
    });

    it("that disconnected are 401, and its job goes back", async () => {
      const { agent, agentOf, jobId, jobToken } = await setUpRunning();
      assert.equal((await agent.send("POST", "/disconnect")).status, 200);
      for (const [method, path] of [
        ["POST", "/connect"],
        ["GET", "/ping"],
        ["POST", "/heartbeat"],
        ["POST", "/disconnect"],
        ["PUT", `/jobs/${jobId}/accept`],
        ["GET", `/jobs/${jobId}`],
      ] as const)
        assert.equal((await agent.send(method, path)).status, 401, path);
      for (const given of [agent.token, jobToken])
        assert.equal((await agent.finish(jobId, 0, given)).status, 422);
      assert.equal(await (await agentOf()).offered(), jobId);
    });

    it("that pings twice at the same time reserve one job", async () => {
      const { agentOf, build } = await setUp(5);
      const agent = await agentOf();
      const offers = await Promise.all(Array.from({ length: 10 }, () => agent.offered()));
      assert.equal(new Set(offers.filter(Boolean)).size, 1);
      const states = (await build()).jobs.map((job: { state: string }) => job.state);
      assert.deepEqual(states.sort(), ["assigned", "scheduled", "scheduled", "scheduled", "scheduled"]);
    });

    it("that has ended its last job by its own wish is given no other", async () => {
      const { agent, jobId, jobToken } = await setUpRunning(2);
      const last = { exit_status: "0", ignore_agent_in_dispatches: true };
      assert.equal((await agent.send("PUT", `/jobs/${jobId}/finish`, last, jobToken)).status, 200);
      assert.equal(await agent.offered(), undefined);
    });

    it("echo the time of a heartbeat", async () => {
      const agent = await startAgent(api.world.url, token);
      const { body } = await agent.send("POST", "/heartbeat", { sent_at: "2026-11-21T16:12:15.9Z" });
      assert.equal(body.sent_at, "2026-11-21T16:12:15.9Z");
      assert.ok(Date.parse(body.received_at));
      assert.equal((await agent.send("POST", "/heartbeat")).status, 200);
    });

    it("acquire only jobs of their cluster, and of the queue that their token is bound to", async () => {
      const [one, two] = [await setUp(), await setUp()];
      const bound = await agentTokenOf(api.world, api.acme.cluster, { queueId: one.queue.id });
      const agent = await startAgent(api.world.url, bound, { ignore_in_dispatches: true });
      const [{ id: foreign }] = (await two.build()).jobs;
      assert.equal((await agent.send("PUT", `/jobs/${foreign}/acquire`)).status, 404);
      await revokeTokenOf(agent);
      assert.equal((await agent.send("PUT", `/jobs/${foreign}/acquire`)).status, 404, "revoked or not");
      const [{ id: own }] = (await one.build()).jobs;
      assert.equal((await agent.send("PUT", `/jobs/${own}/acquire`)).status, 200);
      const free = await startAgent(api.world.url, token, { ignore_in_dispatches: true });
      assert.equal((await free.send("PUT", `/jobs/${foreign}/acquire`)).status, 200, "of any queue");
    });
  });

  describe("with a body", () => {
    it("over its limit are 413", async () => {
      const { agent, jobId } = await setUpRunning();
      const long = "x".repeat(1_100_000);
      for (const [path, body] of [
        ["/heartbeat", { sent_at: long }],
        ["/stop", { force: true, long }],
        [`/jobs/${jobId}/data/set`, { key: "a", value: long }],
        [`/jobs/${jobId}/pipelines`, { uuid: randomUUID(), pipeline: { steps: [{ command: long }] } }],
      ] as const)
        assert.equal((await agent.send("POST", path, body)).status, 413, path);
      const finish = { exit_status: "0", signal: long };
      assert.equal((await agent.send("PUT", `/jobs/${jobId}/finish`, finish)).status, 413);
      const chunk = await call(agent.token, {
        method: "POST",
        path: `/jobs/${jobId}/chunks?sequence=1&offset=0&size=1100000`,
        bytes: gzipSync(long),
      });
      assert.equal(chunk.status, 413, "inflated");
    });

    it("that is no JSON are 400 or 415, and change nothing", async () => {
      const { agent, jobId, build } = await setUpRunning();
      const raw = (body: string, type = "application/json") =>
        request(`${api.world.url}/v3/jobs/${jobId}/finish`, {
          method: "PUT",
          headers: { Authorization: `Token ${agent.token}`, "Content-Type": type },
          body,
        });
      assert.equal((await raw("{")).status, 400);
      assert.equal((await raw("exit_status=0", "text/plain")).status, 415);
      assert.equal((await build()).state, "running");
    });
  });

  async function revokeTokenOf(agent: Pick<ScriptedAgent, "id">): Promise<void> {
    const { db } = api.world.services;
    const row = (await db.select().from(db.tables.agents)).find(({ id }) => id === agent.id);
    const path = `/clusters/${api.acme.cluster.id}/tokens/${row?.agentTokenId}`;
    assert.equal((await api.send("DELETE", path)).status, 204);
  }
});

interface Call {
  method: string;
  path: string;
  body?: object;
  bytes?: Buffer<ArrayBuffer>;
}

function isFinish({ path }: Call): boolean {
  return path.endsWith("/finish");
}

/** Owners of the tokens that are good for a call. */
type Kind = "registrar" | "session" | "job" | "control" | "data";

/** Every call that agents make, about a job and its build. */
function callsOf(jobId: string, buildId: string): (Call & { kind: Kind })[] {
  const uuid = randomUUID();
  const data = (base: string) => [
    { kind: "data" as const, method: "POST", path: `${base}/data/get`, body: { key: "a" } },
    { kind: "data" as const, method: "POST", path: `${base}/data/set`, body: { key: "a", value: "b" } },
    {
      kind: "data" as const,
      method: "POST",
      path: `${base}/data/set-batch`,
      body: { items: [{ key: "a", value: "b" }] },
    },
    { kind: "data" as const, method: "POST", path: `${base}/data/exists`, body: { key: "a" } },
    { kind: "data" as const, method: "POST", path: `${base}/data/keys` },
  ];
  const job = `/jobs/${jobId}`;
  return [
    { kind: "registrar", method: "POST", path: "/register", body: registration },
    { kind: "registrar", method: "GET", path: "/token" },
    { kind: "session", method: "POST", path: "/connect" },
    { kind: "session", method: "GET", path: "/ping" },
    { kind: "session", method: "POST", path: "/heartbeat", body: { sent_at: null } },
    { kind: "session", method: "POST", path: "/disconnect" },
    { kind: "session", method: "PUT", path: `${job}/accept` },
    { kind: "session", method: "PUT", path: `${job}/acquire` },
    { kind: "control", method: "POST", path: "/stop", body: { force: true } },
    { kind: "control", method: "POST", path: "/pause", body: {} },
    { kind: "control", method: "POST", path: "/resume" },
    { kind: "job", method: "GET", path: job },
    { kind: "job", method: "PUT", path: `${job}/start`, body: { started_at: null } },
    {
      kind: "job",
      method: "POST",
      path: `${job}/chunks?sequence=1&offset=0&size=1`,
      bytes: gzipSync("a"),
    },
    { kind: "job", method: "POST", path: `${job}/header_times`, body: { header_times: {} } },
    {
      kind: "job",
      method: "POST",
      path: `${job}/pipelines`,
      body: { uuid, pipeline: { steps: [{ command: "x" }] } },
    },
    { kind: "job", method: "GET", path: `${job}/pipelines/${uuid}` },
    { kind: "job", method: "PUT", path: `${job}/finish`, body: { exit_status: "0" } },
    ...data(job),
    ...data(`/builds/${buildId}`),
  ];
}
