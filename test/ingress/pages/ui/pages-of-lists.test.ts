import assert from "node:assert/strict";
import { it } from "node:test";
import { insertAccessTokens } from "../../../../shared/accounts/access-token-store.ts";
import { insertAgentToken } from "../../../../shared/agents/token-store.ts";
import { newId, newIds } from "../../../../shared/ids.ts";
import { insertGrants } from "../../../../shared/oauth/grant-store.ts";
import { rebuildDelivery } from "../../../../shared/triggers/deliveries/rebuild.ts";
import { findDelivery } from "../../../../shared/triggers/deliveries/store.ts";
import { findTrigger } from "../../../../shared/triggers/store.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { addApplication, startQueuePages } from "../../../helpers/pages.ts";

const things = 65;
const perPage = 30;

describeWorld("a list that is longer than a page", startQueuePages, (pages) => {
  const names = Array.from({ length: things }, (_, number) => `Thing number ${number} `);
  const named = (text: string) => [...new Set(text.match(/Thing number \d+ /g))];

  /** Follows the links of this text from the page on. */
  const follow = async (path: string, text: string) => {
    const seen: string[][] = [];
    const link = new RegExp(`<a href="([^"]+)">${text}</a>`);
    for (let next: string | undefined = path; next; ) {
      const answer = await pages.asAda.get(next);
      assert.equal(answer.status, 200);
      seen.push(named(answer.text));
      next = link.exec(answer.text)?.[1]?.replaceAll("&amp;", "&");
    }
    return seen;
  };

  it("has pages of the registration tokens of a cluster", async () => {
    const { services, acme, clock } = pages;
    await services.db.transaction(async (tx) => {
      for (const [index, id] of newIds(clock.now(), things).entries())
        await insertAgentToken(tx, {
          id,
          organizationId: acme.id,
          clusterId: acme.cluster.id,
          queueId: acme.queue.id,
          tokenHash: `hash ${index}`,
          description: names[index] ?? "",
          createdAt: clock.now(),
          createdById: acme.user.id,
          expiresAt: null,
          lastUsedAt: null,
          revokedAt: null,
        });
    });

    const seen = await follow(pages.paths.cluster, "Next");

    assert.deepEqual(
      seen.map((page) => page.length),
      [perPage, perPage, things - 2 * perPage],
    );
    assert.deepEqual(seen.flat(), names);
    assert.match(
      (await pages.asAda.get(`${pages.paths.cluster}?tokens_page=3`)).text,
      /Only for the queue default/,
    );
  });

  it("has pages of API access tokens, newest first, and each can be revoked", async () => {
    const { services, acme, clock } = pages;
    const ids = newIds(clock.now(), things);
    const rows = ids.map((id, index) => ({
      id,
      tokenHash: `hash ${index}`,
      userId: pages.ada.id,
      organizationId: acme.id,
      scopes: ["read_user"],
      description: names[index] ?? "",
      createdAt: clock.now(),
      expiresAt: null,
      revokedAt: null,
      grantId: null,
      lastUsedAt: null,
    }));
    await services.db.transaction((tx) => insertAccessTokens(tx, rows));

    const seen = await follow("/user/api-access-tokens", "Older");

    assert.deepEqual(seen.flat(), names.toReversed());
    assert.equal(seen[0]?.length, perPage);
    const revoke = `/user/api-access-tokens/${ids[0]}/revoke`;
    assert.match((await pages.asAda.get(revoke)).text, /Thing number 0 /);
    await pages.asAda.post(revoke, {});
    assert.equal((await pages.asAda.get(revoke)).status, 404);
  });

  it("has pages of connected apps, newest first, and all of an application can be revoked", async () => {
    const { services, acme, clock } = pages;
    const { application } = await addApplication(pages, { name: "Terraform", clientId: "terraform" });
    const ids = newIds(clock.now(), things);
    const rows = ids.map((id, index) => ({
      id,
      userId: pages.ada.id,
      organizationId: acme.id,
      applicationId: application.id,
      scopes: ["read_user"],
      approvedUserAgent: names[index] ?? "",
      approvedIp: "::1",
      createdAt: clock.now(),
      lastUsedAt: null,
      lastUserAgent: null,
      lastIp: null,
    }));
    await services.db.transaction((tx) => insertGrants(tx, rows));

    const seen = await follow("/user/connected-apps", "Older");

    assert.deepEqual(seen.flat(), names.toReversed());
    assert.equal(seen[0]?.length, perPage);
    assert.match((await pages.asAda.get(`/user/connected-apps/${ids[0]}`)).text, /Thing number 0 /);
    const revoke = `/user/connected-apps/applications/${application.id}/revoke`;
    assert.match((await pages.asAda.get(revoke)).text, /All 65 of its sign-ins end/);
    await pages.asAda.post(revoke, {});
    assert.equal((await pages.asAda.get(revoke)).status, 404);
    assert.deepEqual((await follow("/user/connected-apps", "Older")).flat(), []);
    const audited = await pages.asAda.get(
      "/organizations/acme/audit?action=revoked&type=grant&name=Terraform",
    );
    assert.equal(audited.text.match(/revoked the grant/g)?.length, things);
  });

  it("shows the last builds of a delivery, and the next rebuild counts on", async () => {
    const { services, actor, acme } = pages;
    const trigger = await acme.trigger({ label: newId(services.clock.now()) });
    const deliveryId = (await buildWebhook(pages, trigger.path)).deliveryId ?? assert.fail();
    const found = await findTrigger(services.db, { pipelineId: acme.pipeline.id, id: trigger.id });
    const delivery = await findDelivery(services.db, trigger.id, deliveryId);
    assert.ok(found && delivery);
    const again = () =>
      rebuildDelivery(services, actor, { pipeline: acme.pipeline, trigger: found, delivery });
    for (let rebuild = 1; rebuild <= 12; rebuild++) assert.equal((await again()).rebuild, rebuild);

    const path = `/organizations/acme/pipelines/web/triggers/${trigger.id}`;
    for (const address of [path, `${path}/deliveries/${deliveryId}`]) {
      const { text } = await pages.asAda.get(address);
      assert.equal(text.match(/class="build" href/g)?.length, 10);
      assert.match(text, /earlier ones, /);
    }
    assert.match(
      (await pages.asAda.get(`${path}/deliveries/${deliveryId}`)).text,
      /name="rebuild" value="13"/,
    );
  });
});
