import assert from "node:assert/strict";
import { it } from "node:test";
import { rebuildNext } from "../../shared/triggers/bulk-rebuilds/run.ts";
import { unknownId } from "../helpers/api.ts";
import { runSlices } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { addPerson, setUpOrganization } from "../helpers/organization.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

describeWorld("…/triggers/{id}/rebuilds", openTriggerApi, (api) => {
  /** A trigger of a pipeline of its own, with a built delivery of each event. */
  const triggerWith = async (...events: string[]) => {
    const { slug } = await api.newPipeline();
    const made = await api.newTrigger({ type: "github" }, slug);
    const at = `${api.triggersAt(slug)}/${made.id}`;
    const ids: string[] = [];
    for (const event of events)
      ids.push(
        await api.deliver(made, "{}", {
          "X-GitHub-Event": event,
          "X-GitHub-Delivery": `${slug}-${ids.length}`,
        }),
      );
    await api.work(...ids);
    return { ...made, slug, at, ids, rebuilds: `${at}/rebuilds` };
  };
  type Made = Awaited<ReturnType<typeof triggerWith>>;

  const ask = async ({ rebuilds }: Pick<Made, "rebuilds">, body?: object) => {
    const answer = await api.send("POST", rebuilds, body === undefined ? {} : { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const run = (id: string) => runSlices(rebuildNext, api.world.services, id);
  const buildsOf = async ({ at }: Made, id: string) =>
    (await api.send("GET", `${at}/deliveries/${id}`)).body.builds.length;
  const assertRefused = async (path: string, body: object | undefined, message: string) => {
    const answer = await api.send("POST", path, body === undefined ? {} : { body });
    assert.deepEqual([answer.status, answer.body], [422, { message }]);
  };

  it("201: builds what matches again, as the caller", async () => {
    const trigger = await triggerWith("push", "ping", "push");
    const member = await addPerson(api.world, api.acme);
    const token = await api.tokenOf(member, ["write_builds", "read_pipelines"]);
    const filter = { status: "build_created", event: "push", received_from: "2026-01-01" };

    const { status, body } = await api.send("POST", trigger.rebuilds, { token, body: filter });
    await run(body.id);

    assert.equal(status, 201);
    assert.deepEqual(body, {
      id: body.id,
      url: `https://api.example.com/v2/organizations/acme${trigger.rebuilds}/${body.id}`,
      state: "running",
      filter: {
        status: "build_created",
        event: "push",
        external_id: null,
        received_from: "2026-01-01T00:00:00.000Z",
        received_to: null,
      },
      total: 2,
      built: 0,
      skipped: 0,
      failed: 0,
      created_at: body.created_at,
      created_by: body.created_by,
      finished_at: null,
    });
    assert.equal(body.created_by.id, member.id);
    const finished = (await api.send("GET", `${trigger.rebuilds}/${body.id}`, { token })).body;
    assert.match(finished.finished_at, /Z$/);
    assert.deepEqual(finished, { ...body, state: "finished", built: 2, finished_at: finished.finished_at });
    const counts = await Promise.all(trigger.ids.map((id) => buildsOf(trigger, id)));
    assert.deepEqual(counts, [2, 1, 2]);
    const { creator } = (await api.send("GET", `/pipelines/${trigger.slug}/builds/4`)).body;
    assert.equal(creator.id, member.id);
  });

  it("201: takes no body, null and blank members as no filter, and the sender's id", async () => {
    const trigger = await triggerWith("push", "ping");
    const matches = async (body?: object) => {
      const { id, total } = await ask(trigger, body);
      await run(id);
      return total;
    };

    assert.equal(await matches(), 2);
    assert.equal(await matches({}), 2);
    assert.equal(await matches({ event: "", external_id: null, status: null, received_to: null }), 2);
    assert.equal(await matches({ external_id: `${trigger.slug}-1` }), 1);
    assert.equal(await matches({ received_from: "2000-01-01T00:00:00+01:00", event: "ping" }), 1);
  });

  it("200: lists them, newest first", async () => {
    const trigger = await triggerWith("push");
    const first = await ask(trigger);
    await run(first.id);
    const second = await ask(trigger);

    const { body } = await api.send("GET", `${trigger.rebuilds}?per_page=1`);
    const next = await api.send("GET", `${trigger.rebuilds}${new URL(body.links.next).search}`);

    assert.deepEqual(body.items, [second]);
    assert.deepEqual(
      next.body.items.map(({ id, state }: typeof first) => [id, state]),
      [[first.id, "finished"]],
    );
    assert.equal(next.body.links.next, undefined);
    await run(second.id);
  });

  it("200: cancels one that runs, and 422 once it has finished", async () => {
    const trigger = await triggerWith("push");
    const { id } = await ask(trigger);

    const canceled = await api.send("PUT", `${trigger.rebuilds}/${id}/cancel`);
    const again = await api.send("PUT", `${trigger.rebuilds}/${id}/cancel`);
    await run(id);

    assert.deepEqual([canceled.status, canceled.body.state, canceled.body.built], [200, "canceled", 0]);
    assert.match(canceled.body.finished_at, /Z$/);
    const message = "Bulk rebuild cannot be canceled: it has finished already";
    assert.deepEqual([again.status, again.body], [422, { message }]);
    assert.deepEqual((await api.send("GET", `${trigger.rebuilds}/${id}`)).body, canceled.body);
    assert.equal(await buildsOf(trigger, trigger.ids[0] ?? ""), 1);
  });

  it("422: no match, one that runs already, and wrong members", async () => {
    const trigger = await triggerWith("push");
    const wrong = (body: object, message: string) =>
      assertRefused(trigger.rebuilds, body, `Validation failed: ${message}`);

    await assertRefused(trigger.rebuilds, { event: "ping" }, "No delivery matches");
    await wrong({ status: "waiting" }, "status must be one of build_created, not_run, failed");
    await wrong({ received_to: "tomorrow" }, "received_to must be a time such as 2026-01-31T00:00:00Z");
    await wrong({ received_from: 5 }, "received_from must be a time such as 2026-01-31T00:00:00Z");
    await wrong({ event: ["push"] }, "event must be text");
    await wrong({ branch: "main" }, "Bulk rebuild has no member named branch");
    const { id } = await ask(trigger);
    await assertRefused(
      trigger.rebuilds,
      undefined,
      "Deliveries of this trigger are being built again already. Wait until that has finished, or cancel it",
    );
    await run(id);
  });

  it("404: of another trigger or organization", async () => {
    const trigger = await triggerWith("push");
    const other = await triggerWith();
    const { id } = await ask(trigger);
    const foreign = await setUpOrganization(api.world, "other");
    const token = await api.tokenOf(foreign.user, ["read_pipelines", "write_builds"], "other");

    for (const [method, path] of [
      ["GET", ""],
      ["PUT", "/cancel"],
    ] as const) {
      const own = await api.send(method, `${other.rebuilds}/${id}${path}`);
      assert.deepEqual([own.status, own.body], [404, { message: "No bulk rebuild found" }]);
      const theirs = await api.send(method, `${trigger.rebuilds}/${id}${path}`, { token });
      assert.deepEqual([theirs.status, theirs.body], [404, { message: "No organization found" }]);
      assert.equal((await api.send(method, `${trigger.rebuilds}/${unknownId}${path}`)).status, 404);
    }
    assert.equal((await api.send("GET", `${trigger.rebuilds}/${id}`)).body.state, "running");
    await run(id);
  });
});
