import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi } from "../../helpers/api.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";

describeOnSqlite("the rate limit of queue operations", (database) => {
  it("applies after authentication and before every other check", async () => {
    const api = await openApi(database, { API_REQUESTS_PER_MINUTE: "2" });
    const narrow = await api.tokenOf(api.acme.user, ["read_user"]);
    for (let sent = 0; sent < 2; sent++) {
      const { status, headers } = await api.send("POST", api.queues, { token: narrow, raw: "{" });
      assert.deepEqual([status, headers.get("ratelimit-remaining")], [403, String(1 - sent)]);
    }

    const limited = await api.send("POST", api.queues, { token: narrow, raw: "{" });
    const elsewhere = await request(`${api.world.url}/v2/organizations/nope/clusters`, {
      headers: { Authorization: `Bearer ${narrow}` },
    });

    for (const { status, body, headers } of [limited, elsewhere]) {
      const reset = Number(headers.get("retry-after"));
      assert.equal(status, 429);
      assert.deepEqual(body, {
        message: `You have exceeded your API rate limit. Please wait ${reset} seconds before making more requests.`,
        scope: "rest",
        limit: 2,
        current: 2,
        reset,
      });
      assert.equal(headers.get("ratelimit-reset"), String(reset));
      assert.equal(headers.get("ratelimit-remaining"), "0");
    }
    const unauthenticated = await api.send("GET", "/clusters", { token: null });
    const another = await api.send("GET", "/clusters");
    assert.deepEqual([unauthenticated.status, another.status], [401, 200]);
    assert.equal((await api.send("OPTIONS", "/clusters", { token: null })).status, 204);
    await api.close();
  });
});
