import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { notifyAboutJobs } from "../../../shared/agents/stacks/notifications.ts";
import { hourMs, minuteMs, secondMs } from "../../../shared/durations.ts";
import { memoryRateLimiter } from "../../../shared/redis/memory-rate-limiter.ts";
import type { RateLimit } from "../../../shared/redis/rate-limiter.ts";
import type { Services } from "../../../shared/services/services.ts";
import { agentTokenOf, openAgentApi, startAgent } from "../../helpers/agent.ts";
import { unknownId } from "../../helpers/api.ts";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import { refusalOf, StackClient } from "./stack-client.ts";

const settings = { STACKS_PER_ORGANIZATION: "3" };

describeWorld("the calls of stacks", withSettings(openAgentApi, settings), (api) => {
  const clientOf = (token = api.agentToken) => new StackClient(api.world.url, token);
  const register = (body: unknown) => clientOf().send("POST", "/stacks/register", body);
  const valid = { key: "one", type: "custom", queue_key: "__default__", metadata: {} };
  const registered = async (key = "one") => {
    const client = clientOf();
    await client.register(key, "__default__");
    return client;
  };

  it("register with 201, again with 200, and change what is said anew", async () => {
    const first = await register({ ...valid, key: "again", metadata: { version: "1" } });
    const second = await register({ ...valid, key: "again", type: "kubernetes", metadata: { version: "2" } });

    assert.deepEqual([first.status, second.status], [201, 200]);
    assert.equal(second.body.id, first.body.id);
    assert.equal(second.body.organization_uuid, api.acme.id);
    assert.deepEqual([second.body.type, second.body.state], ["kubernetes", "connected"]);
    assert.deepEqual(second.body.metadata, { version: "2" });
    assert.match(second.body.last_connected_on, /Z$/);
    const client = await registered("again");
    await client.deregister();
  });

  it("have limits of their own, which each answer shows", async ({ mock }) => {
    const client = await registered("limited");
    const { rateLimiter, clock } = api.world.services;
    // Calls of a busy machine take longer than a second, and while Redis does not answer in time another limiter counts.
    const inMemory = memoryRateLimiter(clock);
    const admit = (limit: RateLimit) => inMemory.admit({ ...limit, windowMs: hourMs });
    mock.method(rateLimiter, "admit", admit);
    const poll = () => client.send("GET", "/stacks/limited/scheduled-jobs?queue_key=default");

    const answers = await Promise.all(Array.from({ length: 12 }, poll));

    const names = ["scope", "limit"].map((name) => `ratelimit-${name}`);
    for (const { headers } of answers)
      assert.deepEqual(
        names.map((name) => headers.get(name)),
        ["list-scheduled-jobs", "10"],
      );
    const refused = answers.filter(({ status }) => status === 429);
    assert.deepEqual([answers.filter(({ status }) => status === 200).length, refused.length], [10, 2]);
    assert.match(refused[0]?.body.message, /^You have exceeded your API rate limit\./);
    assert.deepEqual([refused[0]?.body.scope, refused[0]?.body.limit], ["list-scheduled-jobs", 10]);
    const other = await client.send("GET", `/stacks/limited/jobs/${unknownId}`);
    assert.deepEqual([other.status, other.headers.get("ratelimit-scope")], [404, "show-job"]);
    await client.deregister();
  });

  it("refuse what is not documented with 422 and a message", async () => {
    const many = (amount: number) =>
      Object.fromEntries(Array.from({ length: amount }, (_, at) => [`k${at}`, "v"]));
    const wrong = [
      { ...valid, key: undefined },
      { ...valid, key: "" },
      { ...valid, key: "a".repeat(81) },
      { ...valid, key: "a b" },
      { ...valid, key: "a/b" },
      { ...valid, key: ".." },
      { ...valid, key: 1 },
      { ...valid, type: "pods" },
      { ...valid, queue_key: undefined },
      { ...valid, queue_key: "no-such-queue" },
      { ...valid, metadata: [] },
      { ...valid, metadata: { a: 1 } },
      { ...valid, metadata: { a: { b: "c" } } },
      { ...valid, metadata: { ["k".repeat(65)]: "v" } },
      { ...valid, metadata: { k: "v".repeat(257) } },
      { ...valid, metadata: many(101) },
    ];
    for (const body of wrong) {
      const { status, body: refusal } = await register(body);
      assert.equal(status, 422, JSON.stringify(body).slice(0, 100));
      assert.equal(typeof refusal.message, "string");
    }
    const largest = { ["k".repeat(64)]: "v".repeat(256), ...many(99) };
    assert.equal((await register({ ...valid, key: "a".repeat(80), metadata: largest })).status, 201);
    assert.equal((await register({ ...valid, key: "a".repeat(80), metadata: null })).status, 200);
    await (await registered("a".repeat(80))).deregister();
  });

  it("need a registration token, and a stack that is registered", async () => {
    const agent = await startAgent(api.world.url, api.agentToken);
    for (const token of ["", "x", agent.token, api.adminToken]) {
      assert.equal((await clientOf(token).send("POST", "/stacks/register", valid)).status, 401);
      assert.equal((await clientOf(token).send("GET", "/stacks/one/scheduled-jobs?queue_key=x")).status, 401);
    }
    const calls: [string, string, unknown?][] = [
      ["POST", "/stacks/none/deregister"],
      ["GET", "/stacks/none/scheduled-jobs?queue_key=__default__"],
      ["PUT", "/stacks/none/scheduled-jobs/batch-reserve", { job_uuids: [] }],
      ["GET", `/stacks/none/jobs/${unknownId}`],
      ["POST", "/stacks/none/jobs/get-states", { job_uuids: [] }],
      ["POST", `/stacks/none/jobs/${unknownId}/finish`, { detail: "x" }],
      ["POST", "/stacks/none/notifications", { notifications: [] }],
    ];
    for (const key of ["none", "%00", "on%00e", "%F0%9F%92%9A", "x".repeat(2000)])
      for (const [method, path, body] of calls) {
        const at = path.replace("none", key);
        const answer = await clientOf().send(method, at, body);
        assert.deepEqual([answer.status, answer.body], [404, { message: "No stack found" }], at);
      }
  });

  it("know a key with dots, which come escaped", async () => {
    const client = await registered("my.stack.v1");
    assert.deepEqual(await client.listScheduled(), {
      jobs: [],
      isPaused: false,
      hasNext: false,
      endCursor: "",
    });
    await client.deregister();
  });

  it("refuse what is wrong about jobs with 400, and unknown jobs with 404", async () => {
    const client = await registered();
    const list = (query: string) => client.send("GET", `/stacks/one/scheduled-jobs?${query}`);
    for (const query of [
      "",
      "queue_key=__default__&limit=0",
      "queue_key=__default__&limit=x",
      "queue_key=__default__&after=x",
    ])
      assert.equal((await list(query)).status, 400, query);
    for (const unknown of ["none", "%00", "a%00b", "%F0%9F%92%9A", "x".repeat(2000)])
      assert.equal((await list(`queue_key=${unknown}`)).status, 404, unknown);
    assert.equal((await list("queue_key=__default__&limit=5000")).status, 200);
    const reserve = (body: unknown) => client.send("PUT", "/stacks/one/scheduled-jobs/batch-reserve", body);
    const ids = Array(1000).fill(unknownId);
    for (const body of [
      {},
      { job_uuids: "x" },
      { job_uuids: [1] },
      { job_uuids: [...ids, unknownId] },
      { job_uuids: [], reservation_expiry_seconds: 3601 },
      { job_uuids: [], reservation_expiry_seconds: -1 },
      { job_uuids: [], reservation_expiry_seconds: "x" },
    ])
      assert.equal((await reserve(body)).status, 400, JSON.stringify(body).slice(0, 80));
    const { body } = await reserve({ job_uuids: ["x", unknownId], reservation_expiry_seconds: 3600 });
    assert.deepEqual(body, { reserved: [], not_reserved: ["x", unknownId] });
    assert.equal((await reserve({ job_uuids: ids })).status, 200);
    assert.deepEqual(await client.states(["x", unknownId]), {});
    for (const id of ["x", unknownId, "a".repeat(500)]) {
      assert.deepEqual(await refusalOf(client.getJob(id)), [404, "No job found"]);
      assert.deepEqual(await refusalOf(client.finish(id, "x")), [404, "No job found"]);
    }
    await client.deregister();
  });

  it("register no more stacks than an organization may have, and forget lost ones first", async () => {
    const clients = [];
    for (const key of ["a", "b", "c"]) clients.push(await registered(key));
    const refused = await refusalOf(registered("d"));
    assert.equal(refused[0], 403);
    assert.match(refused[1], /limit of 3 stacks.*STACKS_PER_ORGANIZATION/);
    assert.equal((await registered("c")).key, "c", "it is there already");

    const { db } = api.world.services;
    const { stacks } = db.tables;
    const lose = (key: string) =>
      db.transaction(async (tx) => {
        await tx.update(stacks).set({ lostAt: tx.now }).where(eq(stacks.key, key));
      });
    await lose("b");
    clients.push(await registered("d"));
    const keys = (await db.select().from(stacks)).map(({ key }) => key).toSorted();
    assert.deepEqual(keys, ["a", "c", "d"]);
    for (const client of clients.filter(({ key }) => key !== "b")) await client.deregister();
  });

  it("name a wrong notification once, also if its transaction runs again", async () => {
    const { read } = await api.buildOnQueue({}, {});
    const [one] = (await read()).jobs.map(({ id }: { id: string }) => id);
    const { services } = api.world;
    let runs = 0;
    const transaction: Services["db"]["transaction"] = async (work) => {
      const run = () =>
        services.db.transaction(async (tx) => {
          const result = await work(tx);
          if (++runs === 1) throw new Error("lost race");
          return result;
        });
      return run().catch(run);
    };
    const registrar = { organization: api.acme, cluster: api.acme.cluster, queue: null } as never;
    const given = [{ jobId: one, detail: "Too early", timestamp: new Date(0).toISOString() }];

    const errors = await notifyAboutJobs(
      { ...services, db: { ...services.db, transaction } },
      registrar,
      given,
      new AbortController().signal,
    );

    assert.equal(runs, 2);
    assert.deepEqual([...errors], [["timestamp cannot be before the job was created", [0]]]);
  });

  it("keep notifications that are right, and name the others", async () => {
    const { read, path } = await api.buildOnQueue({}, {});
    const [one, two] = (await read()).jobs.map(({ id }: { id: string }) => id);
    const client = await registered();
    const now = api.world.clock.now().getTime();
    const at = (ms: number) => new Date(now + ms).toISOString();
    api.world.clock.advance(10 * secondMs);

    const errors = await client.notify([
      { job_uuid: one, detail: "Second", timestamp: at(2 * secondMs) },
      { job_uuid: one, detail: "First", timestamp: at(secondMs).replace("Z", "") },
      { job_uuid: one, detail: "" },
      { job_uuid: one, detail: "x".repeat(257) },
      { job_uuid: unknownId, detail: "Nobody" },
      { job_uuid: one, detail: "Future", timestamp: at(10 * minuteMs) },
      { job_uuid: one, detail: "Past", timestamp: at(-minuteMs) },
      { job_uuid: one, detail: "Never", timestamp: "x" },
      { job_uuid: two, detail: "💚".repeat(256), timestamp: new Date(now + 3 * secondMs).toUTCString() },
    ]);

    assert.deepEqual(errors, [
      { error: "detail is required", indexes: [2] },
      { error: "detail is too long (maximum is 256 characters)", indexes: [3] },
      { error: "timestamp is invalid", indexes: [7] },
      { error: "job not found", indexes: [4] },
      { error: "timestamp cannot be in the future", indexes: [5] },
      { error: "timestamp cannot be before the job was created", indexes: [6] },
    ]);
    const more = Array.from({ length: 100 }, (_, index) => ({ job_uuid: one, detail: `Step ${index}` }));
    const [full] = await client.notify(more);
    assert.equal(full?.error, "job stack notification count exceeded");
    assert.deepEqual(full?.indexes, [98, 99]);
    assert.equal(
      (await client.send("POST", "/stacks/one/notifications", { notifications: Array(1001).fill({}) }))
        .status,
      400,
    );

    await api.send("PUT", `${path}/jobs/${two}/cancel`);
    assert.deepEqual(await client.notify([{ job_uuid: two, detail: "Stopped" }]), []);
    api.world.clock.advance(301 * secondMs);
    assert.deepEqual(await client.notify([{ job_uuid: two, detail: "Late" }]), [
      { error: "job finished too long ago", indexes: [0] },
    ]);
    await client.deregister();
  });

  it("cut a reason that is longer than 4 KB", async () => {
    const { read } = await api.buildOnQueue({});
    const [job] = (await read()).jobs;
    const client = await registered();
    await client.finish(job.id, "ü".repeat(4000));
    assert.equal((await read()).jobs[0].failure_reason, "ü".repeat(2048));
    assert.equal((await client.send("POST", `/stacks/one/jobs/${job.id}/finish`, {})).status, 422);
    await client.deregister();
  });

  it("show stacks by REST to those who may see agents, of their organization only", async () => {
    const client = await registered("shown");
    const { body } = await api.send("GET", "/stacks");
    assert.deepEqual(
      body.map(({ key, state, type, queue }: Record<string, string>) => [key, state, type, queue]),
      [["shown", "connected", "kubernetes", api.acme.queue.key]],
    );
    const { status, body: one } = await api.send("GET", `/stacks/${client.stack?.id}`);
    assert.deepEqual([status, one.id], [200, client.stack?.id]);
    for (const id of ["x", unknownId]) assert.equal((await api.send("GET", `/stacks/${id}`)).status, 404);
    const token = await api.tokenOf(api.admin, ["read_builds"]);
    assert.equal((await api.send("GET", "/stacks", { token })).status, 403);
    await client.deregister();
    assert.deepEqual((await api.send("GET", "/stacks")).body, []);
  });

  it("are those of one queue with a token for it", async () => {
    const queue = await api.newQueue();
    const token = await agentTokenOf(api.world, api.acme.cluster, { queueId: queue.id });
    const client = clientOf(token);
    assert.equal((await client.register("bound", "__default__")).cluster_queue_key, queue.key);
    assert.equal((await refusalOf(client.register("bound", api.acme.queue.key)))[0], 422);
    await client.deregister();
  });
});
