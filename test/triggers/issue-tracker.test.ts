import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { it } from "node:test";
import { startIngress } from "../../ingress/server.ts";
import { readConfig } from "../../shared/settings/config.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

describeOnSqlite("triggers of the issue tracker", (database) => {
  it("survive a change of ISSUE_TRACKER", async () => {
    const api = await openTriggerApi(database, { ISSUE_TRACKER: "Linear" });
    const { services } = api.world;
    const verification = { strategy: "hmac", secret: "s3" };
    const trigger = await api.newTrigger({ type: "linear", verification });

    const { issueTracker } = readConfig({ ISSUE_TRACKER: "Jira", SECRET_KEY: "x".repeat(32) });
    const ingress = await startIngress({ ...services, config: { ...services.config, issueTracker } });

    const path = `${api.triggersAt()}/${trigger.id}`;
    assert.equal((await api.send("GET", path)).body.type, "linear");
    assert.equal((await api.send("GET", path, { url: ingress.url })).body.type, "jira");
    const change = { url: ingress.url, body: { type: "jira", label: "Issues" } };
    assert.equal((await api.send("PATCH", path, change)).status, 200);
    const hmac = createHmac("sha256", "s3").update("{}").digest("hex");
    const url = ingress.url + new URL(trigger.endpoint_url).pathname;
    assert.equal((await post(url, "{}", { "Jira-Signature": hmac })).status, 201);
    assert.equal((await post(url, "{}", { "Linear-Signature": hmac })).status, 401);
    const body = { type: "linear", label: "x" };
    const refused = await api.send("POST", api.triggersAt(), { url: ingress.url, body });
    assert.equal(
      refused.body.message,
      "Validation failed: Type must be webhook, github, gitlab, gitea, bitbucket, jira or hmac",
    );
    await ingress.close();
    await api.close();
  });
});
