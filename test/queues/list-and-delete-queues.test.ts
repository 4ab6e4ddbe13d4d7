import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { inArray } from "drizzle-orm";
import type { Db } from "../../shared/db/database.ts";
import { deleteQueue } from "../../shared/queues/queues.ts";
import { findQueue } from "../../shared/queues/store.ts";
import { base, linkHeader, openApi, unique } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("GET …/queues", openApi, (api) => {
  let path: string;
  let keys: string[];

  before(async () => {
    const { id } = await api.newCluster();
    path = `/clusters/${id}/queues`;
    keys = Array.from({ length: 32 }, () => unique("listed"));
    for (const key of keys) await api.newQueue({ key }, id);
  });

  const list = (query = "") => api.send("GET", path + query);
  const keysOf = (body: { key: string }[]) => body.map(({ key }) => key);
  const link = (page: number, perPage: number, rel: string) =>
    `<${base}${path}?page=${page}&per_page=${perPage}>; rel="${rel}"`;

  it("lists the cluster's queues, oldest first, 30 a page", async () => {
    const found = await list();
    const { status, body } = found;

    assert.equal(status, 200);
    assert.deepEqual(keysOf(body), keys.slice(0, 30));
    assert.equal(linkHeader(found), [link(2, 30, "next"), link(2, 30, "last")].join(", "));
    assert.deepEqual((await api.send("GET", `${path}/${body[3].id}`)).body, body[3]);
  });

  it("links the other pages", async () => {
    const middle = await list("?page=2&per_page=10");
    const last = await list("?page=4&per_page=10");
    const all = await list("?per_page=32");

    assert.deepEqual(keysOf(middle.body), keys.slice(10, 20));
    assert.equal(
      linkHeader(middle),
      [link(1, 10, "first"), link(1, 10, "prev"), link(3, 10, "next"), link(4, 10, "last")].join(", "),
    );
    assert.deepEqual(keysOf(last.body), keys.slice(30));
    assert.equal(linkHeader(last), [link(1, 10, "first"), link(3, 10, "prev")].join(", "));
    assert.deepEqual([keysOf(all.body), all.headers.get("link")], [keys, null]);
  });
});

describeWorld("DELETE …/queues/{id}", openApi, (api) => {
  const remove = (id: string) => api.send("DELETE", `${api.queues}/${id}`);
  const refused = async (id: string, message: string) => {
    const answer = await remove(id);
    assert.deepEqual([answer.status, answer.body], [422, { message }]);
    assert.equal((await api.send("GET", `${api.queues}/${id}`)).status, 200);
  };

  it("answers 204 once and removes the queue everywhere", async () => {
    const { id, key } = await api.newQueue();
    const { status, text } = await remove(id);

    assert.deepEqual([status, text], [204, ""]);
    const path = `${api.queues}/${id}`;
    for (const [method, address, body] of [
      ["GET", path],
      ["DELETE", path],
      ["PUT", path, {}],
      ["POST", `${path}/pause_dispatch`],
      ["POST", `${path}/resume_dispatch`],
    ] as const) {
      const again = await api.send(method, address, body ? { body } : {});
      assert.deepEqual([again.status, again.body], [404, { message: "No cluster queue found" }]);
    }
    const listed = (await api.send("GET", `${api.queues}?per_page=100`)).body;
    assert.equal(
      listed.some((each: { key: string }) => each.key === key),
      false,
    );
  });

  it("refuses the default queue of its cluster", async () => {
    await refused(api.acme.queue.id, "Cluster queue is the default queue of its cluster");
  });

  describe("while pipelines name it", () => {
    const naming = (key: string) => ({ steps: [{ command: "a" }, { command: "b", agents: { queue: key } }] });

    it("refuses and counts them", async () => {
      const { id, key } = await api.newQueue();
      const one = await api.newPipeline(naming(key));
      await refused(id, "Cluster queue is the target of 1 pipelines");
      const two = await api.newPipeline(naming(key));
      await refused(id, "Cluster queue is the target of 2 pipelines");

      await api.send("DELETE", `/pipelines/${one.slug}`);
      await api.send("PATCH", `/pipelines/${two.slug}`, { body: { steps: [{ command: "c" }] } });
      assert.equal((await remove(id)).status, 204);
    });

    it("counts again if one comes between the count and the deletion", async () => {
      const { services } = api.world;
      const { id, key } = await api.newQueue();
      const { slug } = await api.newPipeline();
      const queue = await findQueue(services.db, api.acme.cluster.id, id);
      let isFirst = true;
      const transaction: Db["transaction"] = async (work) => {
        if (isFirst) await api.send("PATCH", `/pipelines/${slug}`, { body: naming(key) });
        isFirst = false;
        return services.db.transaction(work);
      };
      const db: Db = Object.assign(Object.create(services.db), { transaction });

      const deleting = deleteQueue({ ...services, db }, api.acme.operator, queue ?? assert.fail());

      await assert.rejects(deleting, { message: "Cluster queue is the target of 1 pipelines" });
    });

    it("ignores pipelines that use the same key in another cluster", async () => {
      const { id, key } = await api.newQueue();
      const elsewhere = await api.newCluster();
      await api.newQueue({ key }, elsewhere.id);
      await api.newPipeline({ ...naming(key), cluster_id: elsewhere.id, steps: [naming(key).steps[1]] });
      assert.equal((await remove(id)).status, 204);
    });
  });

  it("refuses while jobs on it are unfinished, paused or not", async () => {
    const { id, key } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: key } }] });
    await api.build(pipeline.id, 2);
    await api.send("PATCH", `/pipelines/${pipeline.slug}`, { body: { steps: [{ command: "a" }] } });

    await refused(id, "Cluster queue has 2 unfinished jobs");
    await api.send("POST", `${api.queues}/${id}/pause_dispatch`);
    await refused(id, "Cluster queue has 2 unfinished jobs");
    await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
    await refused(id, "Cluster queue has 1 unfinished jobs");
    for (const state of ["assigned", "running"] as const) {
      await setState(state);
      await refused(id, "Cluster queue has 1 unfinished jobs");
    }
    await setState("passed");
    assert.equal((await remove(id)).status, 204);
    const { body } = await api.send("GET", `/pipelines/${pipeline.slug}/builds/2`);
    assert.deepEqual(body.jobs[0].agent_query_rules, [`queue=${key}`]);

    async function setState(state: "assigned" | "running" | "passed") {
      await api.world.services.db.transaction(async (tx) => {
        const { jobs } = tx.tables;
        const others = inArray(jobs.state, ["scheduled", "assigned", "running"]);
        await tx.update(jobs).set({ state }).where(others);
      });
    }
  });
});
