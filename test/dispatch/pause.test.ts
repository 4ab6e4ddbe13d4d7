import assert from "node:assert/strict";
import { it } from "node:test";
import { graphqlId, openApi, type Sent, timestamp } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";

describeWorld("POST …/pause_dispatch and …/resume_dispatch", openApi, (api) => {
  const pause = (id: string, sent: Sent = {}) => api.send("POST", `${api.queues}/${id}/pause_dispatch`, sent);
  const resume = (id: string, sent: Sent = {}) =>
    api.send("POST", `${api.queues}/${id}/resume_dispatch`, sent);
  const read = async (id: string) => (await api.send("GET", `${api.queues}/${id}`)).body;
  const noteOf = async (body: unknown) => {
    const { id } = await api.newQueue();
    const answer = await pause(id, { body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.dispatch_paused_note;
  };

  it("pause stores user, time and note; resume clears them", async () => {
    const made = await api.newQueue();
    const before = Date.now();

    const paused = await pause(made.id, { body: { dispatch_paused_note: "Weekly upgrade" } });

    const { admin } = api;
    const { dispatch_paused_at, ...rest } = paused.body;
    assert.equal(paused.status, 200);
    assert.match(dispatch_paused_at, timestamp);
    assert.ok(Date.parse(dispatch_paused_at) >= before && Date.parse(dispatch_paused_at) <= Date.now());
    const { dispatch_paused_at: _, ...expected } = made;
    assert.deepEqual(rest, {
      ...expected,
      dispatch_paused: true,
      dispatch_paused_by: {
        id: admin.id,
        graphql_id: graphqlId("User", admin.id),
        name: "Person",
        email: admin.email,
        avatar_url: "https://app.example.com/avatars/P.svg",
        created_at: admin.createdAt.toISOString(),
      },
      dispatch_paused_note: "Weekly upgrade",
    });
    assert.deepEqual(await read(made.id), paused.body);

    const resumed = await resume(made.id);
    assert.deepEqual([resumed.status, resumed.body], [200, made]);
    assert.deepEqual(await read(made.id), made);
  });

  it("prefers dispatch_paused_note to note", async () => {
    assert.equal(await noteOf({ dispatch_paused_note: "a" }), "a");
    assert.equal(await noteOf({ note: "b" }), "b");
    assert.equal(await noteOf({ note: "b", dispatch_paused_note: "a" }), "a");
    assert.equal(await noteOf({ note: "b", dispatch_paused_note: null }), null);
    assert.equal(await noteOf({ note: null }), null);
    assert.equal(await noteOf({ dispatch_paused_note: "", unknown: 1 }), null);
    assert.equal(await noteOf({ note: "n".repeat(2000) }), "n".repeat(2000));
  });

  it("pause takes no body, {} and null, with a content type and without", async () => {
    const json = { "Content-Type": "application/json" };
    const nothings: Sent[] = [
      {},
      { headers: json },
      { raw: "{}", headers: json },
      { raw: "null", headers: json },
    ];
    for (const nothing of nothings) {
      const { id } = await api.newQueue();
      const { status, body } = await pause(id, nothing);
      assert.deepEqual([status, body.dispatch_paused, body.dispatch_paused_note], [200, true, null]);
    }
  });

  it("resume takes no body, with a content type and without", async () => {
    for (const sent of [{}, { headers: { "Content-Type": "application/json" } }]) {
      const { id } = await api.newQueue();
      await pause(id);
      assert.equal((await resume(id, sent)).status, 200);
    }
  });

  it("refuses a note that is not a string, or is too long, with a message for each", async () => {
    const { id } = await api.newQueue();
    for (const name of ["dispatch_paused_note", "note"]) {
      for (const [value, message] of [
        [7, "Note must be text"],
        [{}, "Note must be text"],
        [[], "Note must be text"],
        [false, "Note must be text"],
        ["n".repeat(2001), "Note is too long (maximum is 2,000 characters)"],
        ["a\u0000", "Note must be text without NUL"],
        ["\ud800", "Note must be text without NUL"],
      ] as const) {
        const answer = await pause(id, { body: { [name]: value } });
        assert.deepEqual([answer.status, answer.body], [422, { message }]);
      }
    }
    assert.equal((await read(id)).dispatch_paused, false);
  });

  it("checks only the preferred name, and reports its problem once", async () => {
    for (const note of [7, {}, "n".repeat(2001), "\u0000"]) {
      assert.equal(await noteOf({ dispatch_paused_note: "a", note }), "a");
      assert.equal(await noteOf({ dispatch_paused_note: null, note }), null);
    }
    const { id } = await api.newQueue();
    const refused = await pause(id, { body: { dispatch_paused_note: 7, note: 7 } });
    assert.deepEqual([refused.status, refused.body], [422, { message: "Note must be text" }]);
  });

  it("keeps user, time and note of the first pause when a queue is paused twice", async () => {
    const { id } = await api.newQueue();
    const first = await pause(id, { body: { note: "first" } });
    const colleague = await api.tokenOf(await addPerson(api.world, api.acme, "admin"));

    for (const body of [{ note: "second" }, {}, { dispatch_paused_note: null }]) {
      const { status, body: answer } = await pause(id, { body, token: colleague });
      assert.deepEqual([status, answer], [422, { message: "Cluster queue is already paused" }]);
    }
    assert.deepEqual(await read(id), first.body);
  });

  it("refuses to resume a queue that is not paused", async () => {
    const { id } = await api.newQueue();
    const message = "Cluster queue is not paused";
    const never = await resume(id);
    await pause(id);
    const colleague = await api.tokenOf(await addPerson(api.world, api.acme, "admin"));
    assert.equal((await resume(id, { token: colleague })).status, 200);
    const twice = await resume(id);

    for (const answer of [never, twice]) assert.deepEqual([answer.status, answer.body], [422, { message }]);
  });

  it("pauses and resumes a hosted queue too, and an update keeps the pause", async () => {
    const made = await api.newQueue({ hostedAgents: { instanceShape: "LINUX_ARM64_2X4" } });
    const paused = await pause(made.id, { body: { note: "n" } });
    const updated = await api.send("PATCH", `${api.queues}/${made.id}`, {
      body: { description: "d", dispatch_paused: false, dispatch_paused_note: "other" },
    });
    assert.deepEqual(updated.body, { ...paused.body, description: "d" });
    assert.deepEqual((await resume(made.id)).body, { ...made, description: "d" });
  });

  it("writes one audit entry for each", async () => {
    const { id, key } = await api.newQueue();
    await pause(id);
    await pause(id);
    await resume(id);
    await resume(id);

    const { db } = api.world.services;
    const { auditEvents } = db.tables;
    const rows = (await db.select().from(auditEvents).orderBy(auditEvents.id)).filter(
      ({ subjectId }) => subjectId === id,
    );
    assert.deepEqual(
      rows.map(({ action, subject, subjectType, actorId }) => [action, subject, subjectType, actorId]),
      ["created", "paused", "resumed"].map((action) => [action, key, "queue", api.admin.id]),
    );
  });
});
