import assert from "node:assert/strict";
import { it } from "node:test";
import { base, graphqlId, openApi, timestamp, unique, unknownId, webBase } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("clusters", openApi, (api) => {
  const create = (body: unknown) => api.send("POST", "/clusters", { body });
  const update = (id: string, body: unknown, method = "PATCH") =>
    api.send(method, `/clusters/${id}`, { body });
  const read = async (id: string) => (await api.send("GET", `/clusters/${id}`)).body;
  const invalid = async (answer: ReturnType<typeof create>, ...reasons: string[]) => {
    const { status, body } = await answer;
    assert.deepEqual([status, body], [422, { message: `Validation failed: ${reasons.join(", ")}` }]);
  };

  it("POST creates a cluster without a default queue", async () => {
    const name = unique("Cluster");
    const { status, body } = await create({
      name,
      description: "All of it",
      emoji: ":rocket:",
      color: "#ffffff",
      default_queue_id: api.acme.queue.id,
      unknown: {},
    });

    const { id, created_at, created_by, ...rest } = body;
    assert.equal(status, 201);
    assert.match(created_at, timestamp);
    assert.deepEqual([created_by.id, created_by.email], [api.admin.id, api.admin.email]);
    assert.partialDeepStrictEqual(rest, {
      graphql_id: graphqlId("Cluster", id),
      default_queue_id: null,
      name,
      description: "All of it",
      emoji: ":rocket:",
      color: "#ffffff",
      url: `${base}/clusters/${id}`,
      web_url: `${webBase}/clusters/${id}`,
      queues_url: `${base}/clusters/${id}/queues`,
      default_queue_url: null,
    });
    assert.deepEqual(await read(id), body);
  });

  it("GET names the Operator as creator of the admin command's clusters", async () => {
    const { created_by, default_queue_id, default_queue_url } = await read(api.acme.cluster.id);
    assert.deepEqual([created_by.name, created_by.email], ["Operator", "operator@acme.invalid"]);
    assert.equal(default_queue_id, api.acme.queue.id);
    assert.equal(default_queue_url, `${base}${api.queues}/${api.acme.queue.id}`);
  });

  it("POST refuses invalid names and texts with all reasons at once", async () => {
    await invalid(create({ name: "  " }), "Name can't be blank");
    await invalid(create({ name: "a\u0000" }), "Name must be text without NUL");
    await invalid(
      create({ name: "n".repeat(101), description: "d".repeat(2001), emoji: 1, color: [] }),
      "Name is too long (maximum is 100 characters)",
      "Description is too long (maximum is 2,000 characters)",
      "Emoji must be text",
      "Color must be text",
    );

    const { name } = await api.newCluster();
    await invalid(create({ name, color: 1 }), "Color must be text", "Name has already been taken");
    const other = await api.newCluster();
    const lost = "Default queue must be a queue of the cluster";
    await invalid(
      update(other.id, { name, default_queue_id: unknownId }),
      "Name has already been taken",
      lost,
    );
    await invalid(
      update(other.id, { name, default_queue_id: unknownId, emoji: 1 }),
      "Emoji must be text",
      "Name has already been taken",
      lost,
    );
  });

  it("trims names before it checks and stores them", async () => {
    const name = unique("Spaced out");
    const { status, body } = await create({ name: ` \t${name}\n` });
    assert.deepEqual([status, body.name], [201, name]);
    await invalid(create({ name: `${name}\u00a0` }), "Name has already been taken");
    const longest = `${unique("n")} ${"n".repeat(100)}`.slice(0, 100);
    assert.equal((await update(body.id, { name: `${" ".repeat(50)}${longest} ` })).body.name, longest);
    assert.equal((await read(body.id)).name, longest);
  });

  it("names are unique in the organization, until their cluster is deleted", async () => {
    const { id, name } = await api.newCluster();
    const other = await api.newCluster();
    await invalid(create({ name }), "Name has already been taken");
    await invalid(update(other.id, { name }), "Name has already been taken");
    assert.equal((await update(id, { name })).status, 200);

    await api.send("DELETE", `/clusters/${id}`);
    assert.equal((await update(other.id, { name })).body.name, name);
  });

  it("accepts exactly one of simultaneous creates with one name", async () => {
    const { url } = await api.world.another();
    const urls = [api.world.url, url];
    for (let round = 0; round < 4; round++) {
      const name = unique("Racing");
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          api.send("POST", "/clusters", { body: { name }, url: urls[at % 2] as string }),
        ),
      );

      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(9).fill(422)]);
      for (const { body } of answers.filter(({ status }) => status === 422))
        assert.deepEqual(body, { message: "Validation failed: Name has already been taken" });
    }
  });

  it("accepts exactly one of simultaneous renames to one name", async () => {
    const clusters = [await api.newCluster(), await api.newCluster(), await api.newCluster()];
    for (let round = 0; round < 4; round++) {
      const name = unique("Renamed");
      const answers = await Promise.all(clusters.map(({ id }) => update(id, { name })));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422, 422]);
    }
  });

  it("PATCH sets the default queue to a queue of the cluster, and unsets it", async () => {
    const { id } = await api.newCluster();
    const queue = await api.newQueue({}, id);
    const set = await update(id, { default_queue_id: queue.id });
    assert.deepEqual([set.body.default_queue_id, set.body.default_queue_url], [queue.id, queue.url]);

    const reason = "Default queue must be a queue of the cluster";
    for (const value of [api.acme.queue.id, unknownId, "", "x", queue.id.toUpperCase(), 7, {}])
      await invalid(update(id, { default_queue_id: value }), reason);
    const unset = await update(id, { default_queue_id: null });
    assert.deepEqual([unset.body.default_queue_id, unset.body.default_queue_url], [null, null]);
  });

  it("PATCH keeps a default queue that pipeline steps need", async () => {
    const { id } = await api.newCluster();
    const queue = await api.newQueue({}, id);
    await update(id, { default_queue_id: queue.id });
    await api.newPipeline({ cluster_id: id });

    await invalid(
      update(id, { default_queue_id: null }),
      "Default queue is needed by the steps of 1 pipelines",
    );
    for (const method of ["PUT", "PATCH"])
      await invalid(
        update(id, { default_queue_id: "" }, method),
        "Default queue must be a queue of the cluster",
      );
    assert.equal((await read(id)).default_queue_id, queue.id);
  });

  it("DELETE deletes its queues too, and is refused while it has pipelines", async () => {
    const { id } = await api.newCluster();
    const { key, id: queueId } = await api.newQueue({}, id);
    const steps = [{ command: "a", agents: { queue: key } }];
    const one = await api.newPipeline({ cluster_id: id, steps });
    const two = await api.newPipeline({ cluster_id: id, steps });

    const remove = () => api.send("DELETE", `/clusters/${id}`);
    assert.deepEqual((await remove()).body, { message: "Cluster has 2 pipelines" });
    await api.send("DELETE", `/pipelines/${one.slug}`);
    const refused = await remove();
    assert.deepEqual([refused.status, refused.body], [422, { message: "Cluster has 1 pipelines" }]);
    await api.send("DELETE", `/pipelines/${two.slug}`);
    const gone = await remove();
    assert.deepEqual([gone.status, gone.text], [204, ""]);
    for (const path of ["", "/queues", `/queues/${queueId}`]) {
      const { status, body } = await api.send("GET", `/clusters/${id}${path}`);
      assert.deepEqual([status, body], [404, { message: "No cluster found" }]);
    }
  });

  it("DELETE is refused while its queues have unfinished jobs of a pipeline that moved away", async () => {
    const { id } = await api.newCluster();
    const { key } = await api.newQueue({}, id);
    await api.newQueue({ key });
    const steps = [{ command: "a", agents: { queue: key } }];
    const { id: pipelineId, slug } = await api.newPipeline({ cluster_id: id, steps });
    await api.build(pipelineId, 2);
    await api.send("PATCH", `/pipelines/${slug}`, { body: { cluster_id: api.acme.cluster.id } });
    const remove = () => api.send("DELETE", `/clusters/${id}`);

    assert.deepEqual((await remove()).body, { message: "Cluster has 2 unfinished jobs" });
    await api.send("PUT", `/pipelines/${slug}/builds/1/cancel`);
    const refused = await remove();
    assert.deepEqual([refused.status, refused.body], [422, { message: "Cluster has 1 unfinished jobs" }]);
    await api.send("PUT", `/pipelines/${slug}/builds/2/cancel`);
    assert.equal((await remove()).status, 204);
  });
});
