import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";

const form = { "Content-Type": "application/x-www-form-urlencoded" };

describeWorldOn(sqlite, "a body of REST", openApi, (api) => {
  const post = (raw: string | Buffer<ArrayBuffer>, headers = form, path = "/clusters") =>
    api.send("POST", path, { raw, headers });

  it("is read as JSON whatever its content type, as `curl -d` calls it a form", async () => {
    for (const type of [form["Content-Type"], "text/plain", "application/octet-stream", "nonsense", ""]) {
      const { status, body } = await post(JSON.stringify({ name: `of ${type}` }), { "Content-Type": type });
      assert.deepEqual([status, body.name], [201, `of ${type}`.trim()]);
    }
  });

  it("may be large, and of any operation", async () => {
    const description = "x".repeat(100_000);
    const { status, body } = await post(JSON.stringify({ name: "Large", description }));
    assert.equal(status, 422);
    assert.match(body.message, /Description/);
    const { status: paused } = await post(
      '{"note":"stop"}',
      form,
      `${api.queues}/${api.acme.queue.id}/pause_dispatch`,
    );
    assert.equal(paused, 200);
  });

  it("is refused with 415 if it is neither JSON nor called so", async () => {
    const message = "Content-Type must be application/json, and the body JSON in UTF-8";
    for (const raw of ["name=Main", '{"name":', "name=%7B%7D"]) {
      const answer = await post(raw);
      assert.deepEqual([answer.status, answer.body], [415, { message }]);
    }
  });

  it("may be absent, whatever type an empty one has", async () => {
    assert.equal((await post("")).body.message, "Body is missing: it must be a JSON object with name");
    const { id } = await api.newQueue();
    assert.equal((await post("", form, `${api.queues}/${id}/pause_dispatch`)).status, 200);
  });

  it("is refused with the name of its byte order mark", async () => {
    const marked = {
      "UTF-8": Buffer.from('\ufeff{"name":"Marked"}'),
      "UTF-16": Buffer.from('\ufeff{"name":"Marked"}', "utf16le"),
    };
    for (const [name, raw] of Object.entries(marked)) {
      const { status, body } = await post(raw, { "Content-Type": "application/json" });
      assert.equal(status, 400);
      assert.equal(
        body.message,
        `Body begins with a byte order mark of ${name}: send JSON in UTF-8 without one`,
      );
    }
  });
});
