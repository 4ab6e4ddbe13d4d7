import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorld } from "../helpers/databases.ts";
import { openProviderApi, signed } from "../pipelines/provider/provider-api.ts";
import { operatorOf } from "./operator.ts";

describeWorld("admin pipeline webhook", openProviderApi, (api) => {
  it("shows what the source host has to know, and replaces it", async () => {
    const { admin } = operatorOf(api.world);
    const made = await api.hooked();
    const at = ["--org", "acme", "--pipeline", made.slug];
    const shown = await admin("pipeline webhook", ...at);
    assert.deepEqual(Object.keys(shown), ["webhook_url", "secret"]);
    assert.equal(pathOf(shown.webhook_url), pathOf(made.provider.webhook_url));
    assert.equal(shown.secret, made.provider.secret);
    const rotated = await admin("pipeline webhook --rotate", ...at);
    assert.match(pathOf(rotated.webhook_url), /^\/deliver\/sbwh_/);
    assert.notEqual(rotated.webhook_url, shown.webhook_url);
    assert.notEqual(rotated.secret, shown.secret);
    assert.deepEqual(await admin("pipeline webhook", ...at), rotated);
    assert.equal((await api.postTo(shown.webhook_url, "{}", signed(shown.secret ?? "", "{}"))).status, 404);
    assert.equal((await api.postTo(rotated.webhook_url, "{}", signed(rotated.secret, "{}"))).status, 201);
  });

  it("says where there is none", async () => {
    const { refused } = operatorOf(api.world);
    const { slug } = await api.hooked({ repository: null });
    const elsewhere = await api.hooked({ repository: "https://git.unknown.example/acme/app.git" });
    assert.match(await refused("pipeline webhook --org acme --pipeline", slug), /has no repository/);
    assert.match(
      await refused("pipeline webhook --org acme --pipeline", elsewhere.slug),
      /is at no known source host: repository-connection create adds one/,
    );
    assert.match(
      await refused("pipeline webhook --org acme --pipeline nothing"),
      /No pipeline "nothing" found/,
    );
  });
});

/** The command has the settings of a world, which has no public addresses. */
function pathOf(address: string): string {
  return new URL(address).pathname;
}
