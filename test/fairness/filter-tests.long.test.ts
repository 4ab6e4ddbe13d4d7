import assert from "node:assert/strict";
import { it } from "node:test";
import { updateOrganization } from "../../shared/accounts/organizations.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";
import { slowFilter, slowPayload } from "../triggers/filter/slow-filter.ts";

const attacks = 30;

describeWorldOn(sqlite, "30 filter tests of one organization at once", startWorld, (world) => {
  /** Returns a function that tests a filter on a delivery of a new organization. */
  const setUp = async (slug: string, payload: string) => {
    const organization: TestOrganization = await setUpOrganization(world, slug);
    await updateOrganization(world.services, slug, { features: { webhook_filtering: true } });
    const trigger = await organization.trigger();
    const delivery = (await post(world.url + trigger.path, payload)).body.id;
    const token = await organization.token("write_pipelines");
    const path = `/v2/organizations/${slug}/pipelines/web/triggers/${trigger.id}/filter/test`;
    return (expression: string, signal?: AbortSignal) =>
      fetch(world.url + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ expression, delivery_id: delivery }),
        ...(signal && { signal }),
      });
  };

  it("answer 429 beyond one that runs and two that wait, and delay no other organization", async () => {
    const [attack, test] = [await setUp("attacker", slowPayload), await setUp("victim", '{"s":"p"}')];
    assert.deepEqual(await (await test("webhook.payload.s == 'p'")).json(), { result: true });
    let answered = 0;
    const attacked = Array.from({ length: attacks }, async () => {
      const answer = await attack(slowFilter);
      if (answer.status === 200) answered++;
      return answer;
    });

    await Promise.race(attacked);
    for (let sent = 0; sent < 5; sent++) {
      const before = answered;
      assert.deepEqual(await (await test("webhook.payload.s == 'p'")).json(), { result: true });
      assert.ok(answered - before <= 2, `${answered - before} of the attacker's tests ended first`);
    }

    const answers = await Promise.all(attacked);
    const refused = answers.filter(({ status }) => status === 429);
    const checked = answers.filter(({ status }) => status === 200);
    assert.ok(refused.length > attacks / 2, `${refused.length} were refused`); // a late one finds a slot again
    assert.equal(refused.length + checked.length, attacks);
    for (const { headers } of refused) assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    for (const answer of checked) assert.match((await answer.json()).error, /took longer than 1 second/);
  });

  it("free their slots when their callers disconnect", async () => {
    const attack = await setUp("gone", slowPayload);
    for (let round = 0; round < 4; round++) {
      const gone = new AbortController();
      const attacked: Promise<Response>[] = [];
      await eventually("the slots are taken", async () => {
        for (let sent = 0; sent < 3; sent++) attacked.push(attack(slowFilter, gone.signal));
        return (await attack("true")).status === 429;
      });
      gone.abort();
      await Promise.allSettled(attacked);
      await eventually("the slots are free", async () => (await attack("true")).status === 200);
    }
  });
});
