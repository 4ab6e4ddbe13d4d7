import assert from "node:assert/strict";
import { it } from "node:test";
import { base, openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";

const open = withSettings(openApi, { JOB_EXPIRY_DAYS: "7" });

describeWorldOn(sqlite, "the settings of an organization over REST", open, (api) => {
  it("say what holds", async () => {
    const { status, body } = await api.send("GET", "/pipeline-settings");
    assert.equal(status, 200);
    assert.equal(body.url, `${base}/pipeline-settings`);
    assert.equal(body.default_branch, "main");
    assert.equal(body.scheduled_job_expiry_in_minutes, 7 * 24 * 60);
    assert.equal(body.public_pipeline_creation.enabled, false);
    assert.deepEqual((await api.send("GET", "/api-settings")).body, {
      url: `${base}/api-settings`,
      allowed_ip_addresses: null,
      revoke_inactive_tokens_after_days: null,
      restrict_user_api_token_creation: false,
      features: { api_ip_allow_list: false, inactive_api_token_revocation: false },
    });
  });

  it("take what holds already, and refuse anything else", async () => {
    const patch = (path: string, body: object) => api.send("PATCH", path, { body });
    for (const body of [
      {},
      { allowed_ip_addresses: null, restrict_user_api_token_creation: false },
      { other: 1 },
    ])
      assert.equal((await patch("/api-settings", body)).status, 200);
    for (const body of [{ allowed_ip_addresses: "192.0.2.0/24" }, { restrict_user_api_token_creation: true }])
      assert.equal((await patch("/api-settings", body)).status, 422);
    const present = { default_branch: "main", scheduled_job_expiry_in_minutes: 7 * 24 * 60 };
    assert.equal((await patch("/pipeline-settings", present)).status, 200);
    const { status, body } = await patch("/pipeline-settings", { scheduled_job_expiry_in_minutes: 60 });
    assert.equal(status, 422);
    assert.equal(body.message, "Validation failed: The operator sets when jobs expire, by JOB_EXPIRY_DAYS");
  });

  it("turn off what is off, and turn nothing on", async () => {
    const absent = ["hosted-agents-ssh", "public-pipelines", "build-export"];
    for (const name of absent)
      assert.equal((await api.send("DELETE", `/pipeline-settings/${name}`)).status, 200);
    for (const name of [...absent, "advanced-queue-metrics"]) {
      const { status, body } = await api.send("PUT", `/pipeline-settings/${name}`);
      assert.equal(status, 404);
      assert.match(body.message, /^This server has no /);
    }
  });
});
