import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { eq } from "drizzle-orm";
import { Client } from "pg";
import { loseUnseenAgents, markListening } from "../../shared/agents/lost.ts";
import { findAgent, markSeen } from "../../shared/agents/store.ts";
import { createAgentToken } from "../../shared/agents/tokens.ts";
import { secondMs } from "../../shared/durations.ts";
import { type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { build } from "../helpers/api.ts";
import { postgres, skipPostgres, type TestDatabase } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

/** Their statements end after three seconds, as those of an installation after two. */
const impatient: TestDatabase = {
  ...postgres,
  async create() {
    const created = await postgres.create();
    const url = new URL(created.url);
    for (const limit of ["query_timeout", "statement_timeout"]) url.searchParams.set(limit, "3000");
    return { ...created, url: url.toString() };
  },
};

describe("while a frozen process has a build locked", { skip: skipPostgres }, () => {
  let world: World;
  const open = (database: TestDatabase) => async () => {
    world = await startWorld(database);
  };

  /** An organization whose first agent runs a job, and whose second waits for one. */
  async function setUp(slug: string) {
    const { services, url } = world;
    const { db } = services;
    const organization = await setUpOrganization(world, slug);
    const { token } = await createAgentToken(services, organization.operator, organization.cluster, {
      description: "test",
      queueId: null,
      expiresAt: null,
    });
    await build(world, organization.pipeline.id, 2);
    const [running, waiting] = [await startAgent(url, token), await startAgent(url, token)];
    const jobId = (await running.offered()) as string;
    await running.begin(jobId);
    const { builds } = db.tables;
    const own = await db
      .select({ id: builds.id })
      .from(builds)
      .where(eq(builds.organizationId, organization.id));
    return { running, waiting, jobId, buildIds: own.map(({ id }) => id) };
  }
  type Organization = Awaited<ReturnType<typeof setUp>>;

  async function lock({ buildIds, jobId }: Organization) {
    const client = new Client({ connectionString: world.config.databaseUrl });
    await client.connect();
    await client.query("begin");
    await client.query("select id from builds where id = any($1) for update", [buildIds]);
    await client.query("select id from jobs where id = $1 for update", [jobId]);
    return {
      countWaiting: async () => {
        const { rows } = await client.query(
          "select pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))",
        );
        return rows.length;
      },
      lockAgent: () => client.query("select id from agents where job_id = $1 for update", [jobId]),
      release: () => client.end(),
    };
  }

  const sendChunk = async ({ token }: ScriptedAgent, jobId: string) => {
    const { status } = await fetch(`${world.url}/v3/jobs/${jobId}/chunks?sequence=1&offset=0&size=1`, {
      method: "POST",
      headers: { Authorization: `Token ${token}`, "Content-Encoding": "gzip" },
      body: gzipSync("x"),
    });
    return status;
  };
  const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status;
  /** Everything that an organization's agents wait for: log, finish, ping. */
  const callsOf = ({ running, waiting, jobId }: Organization) => [
    () => sendChunk(running, jobId),
    () => statusOf(running.finish(jobId)),
    () => statusOf(waiting.send("GET", "/ping")),
  ];
  const call = (organization: Organization) => callsOf(organization).map((send) => send());

  describe("the agents of another organization", () => {
    before(open(postgres));
    after(() => world.close());

    it("get jobs, send logs and finish, and its own do once the lock is gone", async () => {
      const [locked, other] = [await setUp("locked"), await setUp("other")];
      const lockOfBuild = await lock(locked);
      let isAnswered = false;
      const own = Promise.all(call(locked)).finally(() => {
        isAnswered = true;
      });
      await eventually("its calls wait", async () => (await lockOfBuild.countWaiting()) === 3);

      const next = (await other.waiting.offered()) as string;
      const { token } = await other.waiting.begin(next);
      const statuses = [
        await sendChunk(other.running, other.jobId),
        await statusOf(other.running.finish(other.jobId)),
        await statusOf(other.waiting.finish(next, 0, token)),
      ];

      assert.deepEqual(statuses, [200, 200, 200]);
      assert.equal(isAnswered, false);
      await lockOfBuild.release();
      // The log is refused if the finish overtakes it.
      const [log, ...others] = await own;
      assert.ok(log === 200 || log === 404, `the log: ${log}`);
      assert.deepEqual(others, [200, 200]);
    });
  });

  describe("the agents of all organizations", () => {
    before(open(postgres));
    after(() => world.close());

    it("are heard and lost, and its own once the lock is gone", async () => {
      const { services, clock } = world;
      const [locked, other] = [await setUp("locked"), await setUp("other")];
      const pair = [locked.running.id, other.running.id];
      const agents = async () => [
        await findAgent(services.db, locked.running.id),
        await findAgent(services.db, other.running.id),
      ];
      const lockOfBuild = await lock(locked);
      await lockOfBuild.lockAgent();
      const [before] = await agents();

      clock.advance(secondMs);
      const heardAt = clock.now();
      await services.db.transaction((tx) => markSeen(tx, pair, heardAt));
      assert.deepEqual(
        (await agents()).map((agent) => agent?.seenAt),
        [before?.seenAt, heardAt],
      );

      for (let passed = 0; passed < 12; passed++) {
        clock.advance(10 * secondMs);
        await markListening(services);
      }
      await loseUnseenAgents(services);
      assert.deepEqual(
        (await agents()).map((agent) => agent?.state),
        ["connected", "lost"],
      );

      await lockOfBuild.release();
      await loseUnseenAgents(services);
      assert.equal((await agents())[0]?.state, "lost");
    });
  });

  describe("its own agents", () => {
    before(open(impatient));
    after(() => world.close());

    it("are answered 503 in the end, and their calls succeed later", async () => {
      const locked = await setUp("locked");
      const lockOfBuild = await lock(locked);

      const refused = await Promise.all(call(locked));

      assert.deepEqual(refused, [503, 503, 503]);
      await lockOfBuild.release();
      for (const send of callsOf(locked)) assert.equal(await send(), 200);
    });
  });
});
