import assert from "node:assert/strict";
import { it } from "node:test";
import { listAuditEvents } from "../../../../shared/accounts/audit-store.ts";
import {
  changeOrganization,
  requireOrganization,
  updateOrganization,
} from "../../../../shared/accounts/organizations.ts";
import { describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const path = "/organizations/acme/settings";

const open = withSettings(startQueuePages, { DELIVERIES_PER_HOUR: "1000000000" });

describeWorldOn(sqlite, "the settings of an organization", open, (pages, database) => {
  const read = () => requireOrganization(pages.services.db, "acme");

  it("are changed by admins, in the audit log", async () => {
    assert.match((await pages.asAda.get(path)).text, /value="acme".*value="1000000"/s);

    const answer = await pages.asAda.post(path, [
      ["name", " Acme & Sons "],
      ["deliveries_per_hour", "450"],
      ["feature", "webhook_filtering"],
      ["feature", "windows_hosted_agents"],
      ["feature", "admin"],
    ]);

    assert.equal(answer.headers.get("location"), `${path}?notice=settings_saved`, answer.text);
    const { name, deliveriesPerHour, features } = await read();
    assert.deepEqual(
      [name, deliveriesPerHour, features],
      ["Acme & Sons", 450, ["windows_hosted_agents", "webhook_filtering"]],
    );
    const [event] = await listAuditEvents(pages.services.db, { organizationId: pages.acme.id }, 1);
    assert.deepEqual(
      [event?.actor, event?.event.action, event?.event.subjectType],
      ["Ada", "updated", "organization"],
    );
    await pages.asAda.post(path, { name: "Acme", deliveries_per_hour: "450" });
    assert.deepEqual((await read()).features, []);
  });

  it("keep the limit that the operator sets at the same moment", async () => {
    const { services, actor } = pages;
    for (let round = 0; round < 10; round++) {
      await updateOrganization(services, "acme", { deliveriesPerHour: 450, features: {} });

      await Promise.all([
        changeOrganization(services, actor, { name: `Acme ${round}`, features: {} }),
        updateOrganization(services, "acme", { deliveriesPerHour: 7, features: {} }),
      ]);

      const { name, deliveriesPerHour } = await read();
      assert.deepEqual([name, deliveriesPerHour], [`Acme ${round}`, 7]);
    }
    await updateOrganization(services, "acme", { name: "Acme", deliveriesPerHour: 450, features: {} });
  });

  it("limit deliveries from the next one on", async () => {
    const { path: deliver } = await pages.acme.trigger();
    const send = () => fetch(pages.url + deliver, { method: "POST", headers: json, body: "{}" });
    const json = { "content-type": "application/json" };
    await pages.asAda.post(path, { name: "Acme", deliveries_per_hour: "1" });
    assert.deepEqual([(await send()).status, (await send()).status], [201, 429]);
    await pages.asAda.post(path, { name: "Acme", deliveries_per_hour: "1000" });
    assert.equal((await send()).status, 201);
  });

  it("say what is wrong beside its field, and change nothing", async () => {
    const before = await read();
    for (const [field, value, reason] of [
      ["name", " ", "Name can't be blank"],
      ["name", "x".repeat(101), "Name is too long (maximum is 100 characters)"],
      ["deliveries_per_hour", "0", "Deliveries per hour must be a whole number from 1 to 1,000,000,000"],
      ["deliveries_per_hour", "1e3", "Deliveries per hour must be a whole number from 1 to 1,000,000,000"],
      [
        "deliveries_per_hour",
        "9999999999",
        "Deliveries per hour must be a whole number from 1 to 1,000,000,000",
      ],
    ] as const) {
      const answer = await pages.asAda.post(path, {
        name: "Kept",
        deliveries_per_hour: "77",
        [field]: value,
      });
      assert.equal(answer.status, 422);
      assert.ok(answer.text.includes(`id="field-${field}-problem">${reason}.`), answer.text);
    }
    assert.deepEqual(await read(), before);
  });

  it("raise no limit above what the operator allows", async () => {
    const own = await startQueuePages(database, { DELIVERIES_PER_HOUR: "300" });
    const admin = await own.visitor(own.ada);
    const set = async (deliveries: string) =>
      (await admin.post(path, { name: "Acme", deliveries_per_hour: deliveries })).status;

    assert.deepEqual([await set("1000000"), await set("1000001")], [303, 422], "as the operator set it");
    assert.deepEqual([await set("10"), await set("301"), await set("300")], [303, 422, 303]);
    await own.close();
  });

  it("are for admins only", async () => {
    const bob = await pages.visitor(pages.bob);
    assert.equal((await bob.get(path)).status, 403);
    assert.equal((await bob.post(path, { name: "Mine", deliveries_per_hour: "1" })).status, 403);
    assert.doesNotMatch((await bob.get("/organizations/acme/pipelines")).text, /acme\/settings/);
    assert.equal((await bob.get("/organizations/globex/settings")).status, 404);
  });
});
