import assert from "node:assert/strict";
import { it } from "node:test";
import { eq, inArray } from "drizzle-orm";
import { markListening } from "../../../shared/agents/lost.ts";
import { loseSilentStacks, releaseExpired, releaseOfStack } from "../../../shared/agents/stacks/release.ts";
import { minuteMs, secondMs } from "../../../shared/durations.ts";
import { agentTokenOf, openAgentApi, startAgent } from "../../helpers/agent.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { refusalOf, StackClient } from "./stack-client.ts";

describeWorld("a reserved job", openAgentApi, (api) => {
  let made = 0;
  const stackOn = async (queueKey: string, token = api.agentToken, key = `stack-${++made}`) => {
    const client = new StackClient(api.world.url, token);
    await client.register(key, queueKey);
    return client;
  };
  /** A build on a queue of its own with a stack. */
  const setUp = async (jobs = 1) => {
    const parts = await api.buildOnQueue(...Array(jobs).fill({}));
    const ids: string[] = (await parts.read()).jobs.map(({ id }: { id: string }) => id);
    return { ...parts, ids, id: ids[0] as string, client: await stackOn(parts.queue.key) };
  };
  const inPod = (queueKey: string) =>
    startAgent(api.world.url, api.agentToken, {
      meta_data: [`queue=${queueKey}`],
      ignore_in_dispatches: true,
    });
  const listenFor = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10 * secondMs) {
      api.world.clock.advance(10 * secondMs);
      await markListening(api.world.services);
    }
  };
  const pause = (queueId: string) => api.send("POST", `${api.queues}/${queueId}/pause_dispatch`);
  const resume = (queueId: string) => api.send("POST", `${api.queues}/${queueId}/resume_dispatch`);

  it("is offered to no ping and no other stack, and says why it waits", async () => {
    const { queue, client, id, newAgent, read } = await setUp();
    const other = await stackOn(queue.key);
    await client.reserve([id]);

    assert.equal(await (await newAgent()).offered(), undefined);
    assert.deepEqual(await other.reserve([id]), { reserved: [], notReserved: [id] });
    assert.deepEqual(await other.poll(), []);
    const [{ waiting_reason }] = (await read()).jobs;
    assert.equal(waiting_reason.kind, "reserved");
    assert.equal(waiting_reason.stack.key, client.key);
  });

  it("is one stack's of two that reserve at once", async () => {
    const { queue, client, ids } = await setUp(40);
    const other = await stackOn(queue.key);

    const [one, two] = await Promise.all([client.reserve(ids), other.reserve(ids.toReversed())]);

    assert.deepEqual([...one.reserved, ...two.reserved].toSorted(), ids.toSorted());
    assert.equal(one.reserved.length + one.notReserved.length, ids.length);
  });

  it("is the stack's or a pinging agent's, never both", async () => {
    const { client, ids, newAgent } = await setUp(10);
    const agents = await Promise.all(Array.from({ length: 5 }, () => newAgent()));

    const [{ reserved }, ...offered] = await Promise.all([
      client.reserve(ids),
      ...agents.map((agent) => agent.offered()),
    ]);

    const taken = [...reserved, ...offered.filter((id) => id !== undefined)];
    assert.equal(new Set(taken).size, taken.length);
    assert.ok(taken.every((id) => ids.includes(id)));
  });

  it("is scheduled again when its time is over, and may be reserved by others", async () => {
    const { client, queue, id, states, newAgent } = await setUp();
    await client.reserve([id], 60);
    api.world.clock.advance(59 * secondMs);
    await releaseExpired(api.world.services);
    assert.deepEqual(await states(), ["reserved"]);

    api.world.clock.advance(2 * secondMs);
    await releaseExpired(api.world.services);

    assert.deepEqual(await states(), ["scheduled"]);
    assert.equal((await client.poll()).length, 1);
    const other = await stackOn(queue.key);
    assert.deepEqual((await other.reserve([id])).reserved, [id]);
    await other.deregister();
    await releaseOfStack(api.world.services, other.stack?.id ?? "");
    assert.equal(await (await newAgent()).offered(), id);
  });

  it("is canceled at its end if version 1.0.0, which does not know reservations, has ended its build", async () => {
    const { client, id, states } = await setUp();
    await client.reserve([id], 60);
    const { clock, services } = api.world;
    const { db } = services;
    const { builds, jobs } = db.tables;
    const its = db.select({ id: jobs.buildId }).from(jobs).where(eq(jobs.id, id));
    const ended = { state: "canceled", finishedAt: clock.now() } as const;
    await db.transaction((tx) => tx.update(builds).set(ended).where(inArray(builds.id, its)));

    clock.advance(61 * secondMs);
    await releaseExpired(api.world.services);

    assert.deepEqual(await states(), ["canceled"]);
    assert.deepEqual(await client.poll(), []);
  });

  it("stays reserved for longer when its stack reserves it again, and 900 seconds by default", async () => {
    const { client, id, states } = await setUp();
    await client.reserve([id], 60);
    assert.deepEqual((await client.reserve([id])).reserved, [id]);

    api.world.clock.advance(899 * secondMs);
    await releaseExpired(api.world.services);
    assert.deepEqual(await states(), ["reserved"]);
    api.world.clock.advance(2 * secondMs);
    await releaseExpired(api.world.services);
    assert.deepEqual(await states(), ["scheduled"]);
  });

  it("belongs to the agent that acquired it, whatever the reservation", async () => {
    const { client, queue, id, states } = await setUp();
    await client.reserve([id], 60);
    const agent = await inPod(queue.key);
    const { status, body } = await agent.send("PUT", `/jobs/${id}/acquire`);
    assert.equal(status, 200);

    api.world.clock.advance(2 * minuteMs);
    await releaseExpired(api.world.services);
    await client.deregister();
    await releaseOfStack(api.world.services, client.stack?.id ?? "");

    assert.deepEqual(await states(), ["assigned"]);
    assert.equal((await agent.finish(id, 0, body.token)).status, 200);
  });

  it("is acquired or released by its end, never both", async () => {
    const { client, queue, ids, states } = await setUp(8);
    await client.reserve(ids, 60);
    const agents = await Promise.all(ids.map(() => inPod(queue.key)));
    api.world.clock.advance(61 * secondMs);

    const [answers] = await Promise.all([
      Promise.all(ids.map((id, index) => agents[index]?.send("PUT", `/jobs/${id}/acquire`))),
      releaseExpired(api.world.services),
    ]);

    const statuses = answers.map((answer) => answer?.status);
    assert.deepEqual(statuses, Array(ids.length).fill(200));
    assert.deepEqual(await states(), Array(ids.length).fill("assigned"));
  });

  it("can be acquired after a pause, which lets nothing be reserved", async () => {
    const { client, queue, ids, states } = await setUp(2);
    const [before = "", after = ""] = ids;
    await client.reserve([before]);
    await pause(queue.id);

    assert.deepEqual(await client.reserve([before, after]), { reserved: [before], notReserved: [after] });
    assert.equal((await client.listScheduled()).isPaused, true);
    const agent = await inPod(queue.key);
    assert.equal((await agent.send("PUT", `/jobs/${after}/acquire`)).status, 423);
    assert.equal((await agent.send("PUT", `/jobs/${before}/acquire`)).status, 200);
    await resume(queue.id);
    assert.deepEqual((await client.reserve([after])).reserved, [after]);
    assert.deepEqual((await states()).toSorted(), ["assigned", "reserved"]);
  });

  it("waits behind the pause of its queue once it is released", async () => {
    const { client, queue, id, read } = await setUp();
    await client.reserve([id], 60);
    await pause(queue.id);
    api.world.clock.advance(61 * secondMs);
    await releaseExpired(api.world.services);
    const [{ state, waiting_reason }] = (await read()).jobs;
    assert.deepEqual([state, waiting_reason.kind], ["scheduled", "queue_paused"]);
  });

  it("is canceled at once, and its stack hears of it", async () => {
    const { client, queue, id, path } = await setUp();
    await client.reserve([id]);
    assert.equal((await api.send("PUT", `${path}/jobs/${id}/cancel`)).status, 200);
    assert.deepEqual(await client.states([id]), { [id]: "canceled" });
    assert.deepEqual((await client.reserve([id])).notReserved, [id]);
    const agent = await inPod(queue.key);
    assert.equal((await agent.send("PUT", `/jobs/${id}/acquire`)).status, 422);
    assert.equal((await refusalOf(client.finish(id, "too late")))[0], 409);
  });

  it("is scheduled again when its stack deregisters", async () => {
    const { client, ids, states } = await setUp(45);
    await client.reserve(ids);
    await client.deregister();
    let place: { afterId: string } | undefined;
    do place = await releaseOfStack(api.world.services, client.stack?.id ?? "", place);
    while (place);

    assert.deepEqual(new Set(await states()), new Set(["scheduled"]));
    const { db } = api.world.services;
    const left = (await db.select().from(db.tables.tasks)).filter(({ kind }) => kind === "stack");
    assert.deepEqual(
      left.filter(({ subjectId }) => subjectId === client.stack?.id),
      [],
    );
    assert.deepEqual(await refusalOf(client.poll()), [404, "No stack found"]);
    await client.register(client.key, "__default__");
  });

  it("is scheduled again when its stack is silent for five minutes, in which it could be heard", async () => {
    const { client, id, states } = await setUp();
    await client.reserve([id], 3600);
    const { body: before } = await api.send("GET", `/stacks/${client.stack?.id}`);
    assert.equal(before.state, "connected");
    assert.equal(before.reserved_jobs_count, 1);
    api.world.clock.advance(6 * minuteMs);
    await loseSilentStacks(api.world.services);
    assert.equal(
      (await api.send("GET", `/stacks/${client.stack?.id}`)).body.state,
      "connected",
      "nobody listened",
    );

    await listenFor(6 * minuteMs);
    await loseSilentStacks(api.world.services);
    await releaseOfStack(api.world.services, client.stack?.id ?? "");

    assert.deepEqual(await states(), ["scheduled"]);
    const { body } = await api.send("GET", `/stacks/${client.stack?.id}`);
    assert.deepEqual([body.state, body.reserved_jobs_count], ["lost", 0]);
    assert.equal((await client.poll()).length, 1, "it comes back with its next call");
    assert.equal((await api.send("GET", `/stacks/${client.stack?.id}`)).body.state, "connected");
  });

  it("stays with a stack that polls", async () => {
    const { client, id, states } = await setUp();
    await client.reserve([id], 3600);
    for (let minute = 0; minute < 12; minute++) {
      await listenFor(minuteMs);
      await client.poll();
      await loseSilentStacks(api.world.services);
    }
    assert.deepEqual(await states(), ["reserved"]);
  });

  it("can be finished by its stack only, once, and not while an agent has it", async () => {
    const { client, queue, ids } = await setUp(3);
    const [own = "", theirs = "", taken = ""] = ids;
    const other = await stackOn(queue.key);
    await client.reserve([own]);
    await other.reserve([theirs]);
    const agent = await inPod(queue.key);
    assert.equal((await agent.send("PUT", `/jobs/${taken}/acquire`)).status, 200);

    assert.equal((await refusalOf(client.finish(theirs, "no")))[0], 409);
    assert.equal((await refusalOf(client.finish(taken, "no")))[0], 409);
    await client.finish(own, "yes", 3);
    await client.finish(own, "yes", 3);
    assert.equal((await refusalOf(client.finish(own, "no", 0)))[0], 409);
    assert.equal((await refusalOf(other.finish(own, "yes", 3)))[0], 409);
  });

  it("is nobody's of another cluster, organization, queue or token", async () => {
    const { client, id, queue } = await setUp();
    const globex = await setUpOrganization(api.world, `globex-${++made}`);
    const cluster = await api.newCluster();
    const elsewhere = await api.newQueue({}, cluster.id);
    const { services } = api.world;
    const [row] = (await services.db.select().from(services.db.tables.clusters)).filter(
      ({ id }) => id === cluster.id,
    );
    assert.ok(row);
    const bound = await agentTokenOf(api.world, api.acme.cluster, { queueId: (await api.newQueue()).id });
    const strangers = [
      await stackOn("__default__", await agentTokenOf(api.world, globex.cluster)),
      await stackOn(elsewhere.key, await agentTokenOf(api.world, row)),
      await stackOn("__default__", bound),
    ];
    for (const stranger of strangers) {
      assert.deepEqual(await stranger.reserve([id]), { reserved: [], notReserved: [id] });
      assert.deepEqual(await stranger.states([id]), {});
      assert.deepEqual(await refusalOf(stranger.getJob(id)), [404, "No job found"]);
      assert.deepEqual(await refusalOf(stranger.finish(id, "no")), [404, "No job found"]);
      assert.deepEqual(await stranger.notify([{ job_uuid: id, detail: "no" }]), [
        { error: "job not found", indexes: [0] },
      ]);
      stranger.stack = { ...stranger.stack, cluster_queue_key: queue.key } as typeof stranger.stack;
      assert.deepEqual(await refusalOf(stranger.poll()), [404, "No queue found"]);
      stranger.stack = { ...stranger.stack, key: client.key } as typeof stranger.stack;
      if (stranger !== strangers[2])
        assert.deepEqual(await refusalOf(stranger.poll()), [404, "No stack found"]);
    }
    assert.deepEqual(await client.states([id]), { [id]: "scheduled" });
  });
});
