import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import { minuteMs } from "../../shared/durations.ts";
import { openSettling } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { type Received, token } from "./receivers.ts";
import { openNotifications } from "./world.ts";

describeWorld("webhooks of a notification service", openNotifications, (api) => {
  const eventsOf = (received: Received[]) => received.map(({ event }) => event);
  beforeEach(() => api.forget());
  after(() => api.end());

  it("ping when the service is saved and enabled, and wants it", async () => {
    const { receiver, service } = await api.listen("signature", {}, { events: ["ping"] });
    await api.sent();
    const [ping] = receiver.take();
    assert.deepEqual(ping?.body, {
      event: "ping",
      service: { id: service.id, provider: "webhook", settings: { url: receiver.url } },
      organization: await api.read("", await api.tokenOf(api.admin, ["read_organizations"])),
      sender: { id: api.admin.id, name: api.admin.name },
    });

    await api.send("PATCH", `/services/${service.id}`, { body: { description: "x" } });
    await api.sent();
    assert.deepEqual(eventsOf(receiver.take()), ["ping"]);
    await api.send("PUT", `/services/${service.id}/disable`);
    await api.send("PATCH", `/services/${service.id}`, { body: { description: "y" } });
    await api.sent();
    assert.deepEqual(receiver.take(), []);
    await api.send("PUT", `/services/${service.id}/enable`);
    await api.sent();
    assert.deepEqual(eventsOf(receiver.take()), ["ping"]);
    await api.send("PATCH", `/services/${service.id}`, { body: { settings: { events: [] } } });
    await api.sent();
    assert.deepEqual(receiver.take(), []);
  });

  for (const mode of ["token", "signature"] as const)
    it(`tell of builds, jobs and agents in order, with the objects of REST, by ${mode}`, async () => {
      const { pipeline, queue } = await api.newPipelineWithJob();
      const events = ["build.scheduled", "build.running", "build.finished", "job.scheduled", "job.started"];
      const { receiver } = await api.listen(
        mode,
        {},
        {
          events: [...events, "job.finished", "agent.connected", "agent.disconnected"],
        },
      );
      const jobId = await api.runBuild(pipeline, queue);
      await api.sent();

      const received = receiver.take();
      const ofBuild = received.filter(({ event }) => !event.startsWith("agent."));
      assert.deepEqual(eventsOf(ofBuild).toSorted(), [...events, "job.finished"].toSorted());
      const order = eventsOf(ofBuild);
      for (const [first, then] of [
        ["build.scheduled", "build.running"],
        ["job.scheduled", "job.started"],
        ["job.started", "job.finished"],
        ["build.running", "build.finished"],
      ] as const)
        assert.ok(order.indexOf(first) < order.indexOf(then), order.join());
      assert.equal(new Set(received.map(({ id }) => id)).size, received.length);

      const [build] = await api.read(
        `/pipelines/${pipeline.slug}/builds?exclude_jobs=true&exclude_pipeline=true`,
      );
      const job = await api.read(`/pipelines/${pipeline.slug}/builds/1/jobs/${jobId}`);
      const { scheduled_builds_count, running_builds_count, ...rest } = await api.read(
        `/pipelines/${pipeline.slug}`,
      );
      const { scheduled_jobs_count, running_jobs_count, waiting_jobs_count, ...shown } = rest;
      for (const { event, body } of ofBuild) {
        const members = event.startsWith("job.") ? ["event", "job"] : ["event"];
        assert.deepEqual(Object.keys(body), [...members, "build", "pipeline", "sender"]);
        assert.deepEqual(body.build, build, event);
        assert.deepEqual(body.pipeline, { ...shown, provider: { ...shown.provider, webhook_url: "" } });
        assert.deepEqual(body.sender, { id: api.admin.id, name: api.admin.name });
        if (event.startsWith("job.")) assert.deepEqual(body.job, job);
      }
      assert.equal(build.state, "passed");
      for (const { body } of received.filter(({ event }) => event.startsWith("agent."))) {
        assert.deepEqual(Object.keys(body), ["event", "agent", "sender"]);
        assert.deepEqual(body.agent, await api.read(`/agents/${body.agent.id}`));
      }
    });

  it("tell of a blocked build as of one that finished, and of the step that is unblocked", async () => {
    const pipeline = await api.newPipeline({ steps: [{ type: "block", label: "Deploy?" }] });
    const { receiver } = await api.listen("token", {}, { events: ["build.finished", "job.activated"] });
    const { settle, close } = openSettling(api.world.services);
    api.atEnd(close);
    await api.build(pipeline.id);
    await settle();
    await api.sent();
    const [blocked, ...none] = receiver.take();
    assert.deepEqual(none, []);
    assert.deepEqual(
      [blocked?.event, blocked?.body.build.blocked, blocked?.body.build.state],
      ["build.finished", true, "passed"],
    );

    const [job] = await api.read(`/pipelines/${pipeline.slug}/builds/1/jobs`).then(({ items }) => items);
    await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/jobs/${job.id}/unblock`, { body: {} });
    await settle();
    await api.sent();
    const then = receiver.take();
    assert.deepEqual(eventsOf(then), ["job.activated", "build.finished"]);
    assert.equal(then[0]?.body.job.id, job.id);
    assert.equal(then[0]?.body.job.unblocked_by.id, api.admin.id);
    assert.equal(then[1]?.body.build.blocked, false);
  });

  it("name who retried a job", async () => {
    const { pipeline, queue } = await api.newPipelineWithJob();
    const { receiver } = await api.listen("token", {}, { events: ["job.scheduled"] });
    const jobId = await api.runBuild(pipeline, queue, "1");
    const retried = await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/jobs/${jobId}/retry`);
    assert.equal(retried.status, 200, retried.text);
    const { settle, close } = openSettling(api.world.services);
    api.atEnd(close);
    await settle();
    await api.sent();
    const sources = receiver.take().map(({ body }) => body.job.retry_source);
    assert.deepEqual(sources, [
      null,
      {
        job_id: jobId,
        retry_type: "manual",
        retried_by: { name: api.admin.name, email: api.admin.email },
      },
    ]);
  });

  it("go where scope and branches want, and not to other organizations", async () => {
    const [one, other] = [await api.newPipelineWithJob(), await api.newPipelineWithJob()];
    const events = ["build.scheduled"];
    const some = { scope: "some_projects", scope_uuids: [one.pipeline.id] };
    const { receiver: ofOne } = await api.listen("token", some, { events });
    const clusters = { scope: "some_clusters", scope_uuids: [(await api.newCluster()).id] };
    const { receiver: ofCluster } = await api.listen("token", clusters, { events });
    const { receiver: ofBranch } = await api.listen("token", { branch_configuration: "!main" }, { events });
    const { receiver: ofAll } = await api.listen("token", {}, { events });
    for (const { pipeline } of [one, other]) await api.build(pipeline.id);
    await api.sent();
    assert.deepEqual(
      ofOne.take().map(({ body }) => body.pipeline.slug),
      [one.pipeline.slug],
    );
    assert.equal(ofAll.take().length, 2);
    assert.deepEqual([ofCluster.take(), ofBranch.take()], [[], []]);
  });

  it("tell of each of 190 jobs once, those of a build in order", async () => {
    const { key } = await api.newQueue();
    const steps = [100, 90].map((parallelism) => ({ command: "make", parallelism, agents: { queue: key } }));
    const { id } = await api.newPipeline({ steps });
    const { receiver } = await api.listen("signature", {}, { events: ["job.scheduled", "build.scheduled"] });
    await api.build(id);
    const { settle, close } = openSettling(api.world.services);
    api.atEnd(close);
    await settle();
    for (let turn = 0; turn < 20 && receiver.received.length < 191; turn++) await api.sent();
    const received = receiver.take();
    assert.equal(received.length, 191);
    assert.equal(new Set(received.map(({ body }) => body.job?.id)).size, 191);
    assert.ok(received.every(({ body }) => !("jobs" in body.build)));
  });

  it("carry hostile names and messages in the body alone", async () => {
    const name = 'Web\r\nX-Evil: 1"</script>\u2028🚀';
    const { key } = await api.newQueue();
    const pipeline = await api.newPipeline({
      steps: [{ command: "make", label: name, agents: { queue: key } }],
    });
    const { receiver } = await api.listen(
      "signature",
      { description: name },
      { events: ["build.scheduled", "ping"] },
    );
    const message = "Fix\r\nX-Buildkite-Token: x\n\n\u0007\u001b[31m";
    const made = await api.send("POST", `/pipelines/${pipeline.slug}/builds`, {
      body: { commit: "HEAD", branch: "main", message },
    });
    assert.equal(made.status, 201, made.text);
    await api.sent();
    const build = receiver.take().find(({ event }) => event === "build.scheduled");
    assert.equal(build?.body.build.message, made.body.message);
  });

  describe("of a receiver that fails", () => {
    it("repeat with the same id and a fresh signature, and keep what it answered", async () => {
      const { receiver, service } = await api.listen("signature", {}, { events: ["ping"] });
      receiver.reply(
        { status: 503, text: "\u0007later" },
        { status: 302, headers: { location: "http://10.0.0.1/" } },
      );
      await api.sent();
      api.world.clock.advance(10 * minuteMs);
      await api.sent();
      api.world.clock.advance(10 * minuteMs);
      await api.sent();
      const received = receiver.take();
      assert.equal(received.length, 3);
      assert.equal(new Set(received.map(({ id }) => id)).size, 1);
      const { outbox } = api.world.services.db.tables;
      const rows = await api.world.services.db.select().from(outbox);
      const [row] = rows.filter(({ serviceId }) => serviceId === service.id);
      assert.deepEqual([row?.state, row?.answerStatus, row?.answer], ["sent", 200, "ok"]);
      assert.doesNotMatch(JSON.stringify(row), new RegExp(token));
    });

    it("are sent again at once when its service is saved or enabled, also those that it refused", async () => {
      const { receiver, service } = await api.listen("token", {}, { events: ["build.scheduled"] });
      const { pipeline } = await api.newPipelineWithJob();
      receiver.reply({ status: 401 }, { status: 401 });
      await api.build(pipeline.id);
      await api.sent();
      assert.equal(receiver.take().length, 1);

      await api.send("PATCH", `/services/${service.id}`, { body: { settings: { token } } });
      await api.sent();
      assert.equal(receiver.take().length, 1);

      await api.send("PUT", `/services/${service.id}/enable`);
      await api.sent();
      assert.equal(receiver.take().length, 1);
      await api.sent();
      assert.deepEqual(receiver.take(), []);
    });

    it("are dropped once it is disabled or deleted", async () => {
      const { receiver, service } = await api.listen("token", {}, { events: ["build.scheduled"] });
      const other = await api.listen("token", {}, { events: ["build.scheduled"] });
      const { pipeline } = await api.newPipelineWithJob();
      receiver.reply({ status: 500 });
      await api.build(pipeline.id);
      await api.sent();
      assert.equal(receiver.take().length, 1);
      assert.equal(other.receiver.take().length, 1);
      await api.send("PUT", `/services/${service.id}/disable`);
      api.world.clock.advance(10 * minuteMs);
      await api.sent();
      assert.deepEqual(receiver.take(), []);
    });
  });

  it("never have their token in logs", () => {
    assert.ok(api.world.logged.every((line) => !line.includes(token)));
  });
});
