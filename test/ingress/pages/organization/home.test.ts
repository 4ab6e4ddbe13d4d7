import assert from "node:assert/strict";
import { it } from "node:test";
import { addMember } from "../../../../shared/accounts/members.ts";
import { createOrganization } from "../../../../shared/accounts/organizations.ts";
import { pauseDispatch } from "../../../../shared/dispatch/pause.ts";
import { openRefusalCounts } from "../../../../shared/triggers/deliveries/refusal-counts.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { addPerson } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const hourMs = 3_600_000;

describeWorldOn(sqlite, "home", startQueuePages, (pages) => {
  const read = async (user = pages.ada) => (await (await pages.visitor(user)).get("/")).text;
  const words = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

  it("shows what is paused, waits and refuses in each organization, and its last builds", async () => {
    const { services, acme, actor, clock } = pages;
    assert.match(words(await read()), /acme No build yet\./);
    const [trigger, broken] = [
      await acme.trigger({ label: "Hook" }),
      await acme.trigger({ label: "Broken" }),
    ];
    const build = await buildWebhook(pages, trigger.path);
    clock.advance(5 * 60_000);
    await buildWebhook(pages, trigger.path);
    await pauseDispatch(services, actor, acme.queue, "Until the <disk> is replaced");
    const counts = openRefusalCounts(services);
    counts.count(broken, "invalid_json");
    counts.count(broken, "invalid_signature");
    counts.count(broken, "invalid_signature");
    await counts.close();

    const html = await read();

    const text = words(html);
    assert.match(text, /paused default of Primary just now by Ada Until the &lt;disk> is replaced/);
    assert.match(
      text,
      /waiting make test of Web #1 for 5 min( \d+ s)? in the queue default: The queue default is paused/,
    );
    assert.match(text, /refuses Broken of Web has refused 3 deliveries .*signature wrong or missing/);
    assert.doesNotMatch(text, /refuses Hook/);
    assert.match(text, /Web #2 Triggered build .*Web #1 Triggered build/);
    assert.ok(html.includes(`href="${pages.paths.queue}"`));
    assert.ok(html.includes(`href="${pages.paths.build(build.number)}"`));

    clock.advance(2 * hourMs);
    assert.doesNotMatch(await read(), /refuses/);
  });

  it("shows nothing of organizations that the visitor does not belong to", async () => {
    const other = await createOrganization(pages.services, { slug: "other", name: "Other" });
    const text = words(await read(await addPerson(pages, other)));
    assert.match(text, /Other No build yet/);
    assert.doesNotMatch(text, /acme|default|Hook/);
  });

  it("is short for people in many organizations, and stays on the page", async () => {
    const { services, bob } = pages;
    for (let i = 1; i <= 8; i++) {
      await createOrganization(services, { slug: `many-${i}`, name: `Many ${i}` });
      await addMember(services, { organization: `many-${i}`, email: bob.email, role: "member" });
    }

    const html = await read(bob);

    assert.equal(html.match(/<section class="overview"/g)?.length, 5);
    assert.match(html, /More organizations.*many-8/s);
    assert.match(html, /<a href="\/oauth\/device">Connect a device<\/a>/);
  });
});
