import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";

describeWorldOn(sqlite, "an empty body", openApi, (api) => {
  it("is refused with the members that are missing", async () => {
    const { cluster, queue } = api.acme;
    const trigger = await api.acme.trigger();
    const triggers = "/pipelines/web/triggers";
    const changes = "the members to change";
    for (const [method, path, members] of [
      ["POST", "/clusters", "name"],
      ["POST", api.queues, "key"],
      ["POST", "/pipelines", "name"],
      ["POST", triggers, "type, label"],
      ["POST", `${triggers}/${trigger.id}/filter/test`, "expression, delivery_id"],
      ["PATCH", `/clusters/${cluster.id}`, changes],
      ["PUT", `${api.queues}/${queue.id}`, changes],
      ["PATCH", "/pipelines/web", changes],
      ["PATCH", `${triggers}/${trigger.id}`, changes],
    ] as const) {
      for (const contentType of [[], [["Content-Type", "application/json"]]]) {
        const { status, body } = await api.send(method, path, { headers: Object.fromEntries(contentType) });
        const message = `Body is missing: it must be a JSON object with ${members}`;
        assert.deepEqual([status, body], [400, { message }], `${method} ${path}`);
      }
    }
  });

  it("is enough to pause and resume a queue", async () => {
    const { id } = await api.newQueue();

    for (const action of ["pause_dispatch", "resume_dispatch"])
      assert.equal((await api.send("POST", `${api.queues}/${id}/${action}`)).status, 200);
  });
});
