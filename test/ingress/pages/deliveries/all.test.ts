import assert from "node:assert/strict";
import { it } from "node:test";
import { desc, eq } from "drizzle-orm";
import { newId } from "../../../../shared/ids.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { openRefusalCounts } from "../../../../shared/triggers/deliveries/refusal-counts.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const at = "/organizations/acme/deliveries";

describeWorld("the deliveries of an organization", startQueuePages, (pages) => {
  const read = async (query = "", path = at) => {
    const { text } = await pages.asBob.get(path + query);
    const [, table = ""] = text.split("<tbody>").slice(-2);
    const rows = [...table.matchAll(/<tr .*?<\/tr>/gs)].map(([row]) =>
      row
        .replace(/<[^>]*>/g, " ")
        .replace(/\s+/g, " ")
        .trim(),
    );
    return { text, rows };
  };

  it("are those of all triggers, newest first, with their triggers and builds", async () => {
    const { acme, services, actor } = pages;
    assert.match((await read()).text, /Nothing has come yet/);
    const input = { clusterId: acme.cluster.id, slug: "shop", name: "Shop", steps: [{ command: "make" }] };
    await createPipeline(services, actor, input);
    const web = await acme.trigger({ label: "Hook" });
    const shop = await acme.trigger({ label: "Push" }, "shop");
    await buildWebhook(pages, web.path);
    pages.clock.advance(1000);
    await buildWebhook(pages, shop.path);
    pages.clock.advance(1000);
    await post(pages.url + web.path, "{}");

    const { rows, text } = await read();

    assert.match(rows[0] ?? "", /Hook of Web in process 2 bytes/);
    assert.match(rows[1] ?? "", /Push of Shop built #1 main Triggered build 2 bytes/);
    assert.match(rows[2] ?? "", /Hook of Web built #1 main Triggered build 2 bytes/);
    assert.match(text, /<a href="\/organizations\/acme\/deliveries" aria-current="page"[^>]*>Deliveries</);
    assert.doesNotMatch(
      (await (await pages.visitor(pages.ada)).get("/organizations/globex/deliveries")).text,
      /Hook/,
    );
  });

  it("say the branch and the first line of the message of their last build", async () => {
    const { db } = pages.services;
    const { builds, deliveries } = db.tables;
    const [shop] = await db.select().from(builds).orderBy(desc(builds.id)).limit(1);
    const change = (set: Partial<typeof builds.$inferInsert>) =>
      db.transaction(async (tx) => {
        await tx
          .update(builds)
          .set(set)
          .where(eq(builds.id, shop?.id ?? ""));
        await tx.update(deliveries).set({ event: "commit", externalId: "f3a1" });
      });
    await change({ branch: "fix & it", message: `Fix the\tbuild\n\n${"x".repeat(9000)}` });

    const { rows, text } = await read();

    assert.match(
      rows[0] ?? "",
      / commit Hook of Web in process f3a1 2 /,
      "without a build its id tells it apart",
    );
    assert.match(rows[1] ?? "", / commit Push of Shop built #1 fix &amp; it Fix the build 2 /);
    assert.match(rows[2] ?? "", / commit Hook of Web built #1 main Triggered build 2 /);
    assert.doesNotMatch(text, /xxx/);
    assert.doesNotMatch(rows[1] ?? "", /f3a1/);

    await change({ message: `${"y".repeat(9000)}` });
    assert.ok((await read()).text.length < text.length + 2000, "it is short");
  });

  it("say these of the last of several builds", async () => {
    const { db } = pages.services;
    const { builds } = db.tables;
    const [shop] = await db.select().from(builds).orderBy(desc(builds.id)).limit(1);
    const second = { ...shop, id: newId(pages.clock.now()), number: 90, branch: "second", position: 1 };
    await db.transaction((tx) => tx.insert(builds).values(second as typeof builds.$inferInsert));

    assert.match((await read()).rows[1] ?? "", / commit Push of Shop built #1 #90 second y+ 2 /);
  });

  it("can be filtered as those of a trigger", async () => {
    assert.equal((await read("?status=built")).rows.length, 2);
    assert.equal((await read("?status=in+process")).rows.length, 1);
    assert.match((await read("?event=push")).text, /No delivery matches/);
    assert.equal((await pages.asBob.get(`${at}?status=lost`)).status, 422);
  });

  it("stand below the requests that were refused, which lead to the pages that know more", async () => {
    const { services, acme } = pages;
    assert.doesNotMatch((await read()).text, /id="refused"/);
    const [loud, quiet] = [await acme.trigger({ label: "Loud" }), await acme.trigger({ label: "Quiet" })];
    const counts = openRefusalCounts(services);
    for (let time = 0; time < 3; time++) counts.count(loud, "invalid_signature");
    counts.count(quiet, "invalid_json");
    await counts.close();

    const { text } = await read();

    const [section = ""] = /<details id="refused".*?<\/details>/s.exec(text) ?? [];
    const words = section.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    assert.match(words, /4 refused requests in the last 7 days/);
    assert.match(words, /Loud of Web Signature wrong or missing Set the same secret .*? 3 in the hour of/);
    assert.match(words, /Quiet of Web Payload is not JSON .*? 1 in the hour of/);
    assert.ok(section.includes(`href="/organizations/acme/pipelines/web/triggers/${loud.id}#refused"`));
    assert.match(text, new RegExp(`data-events="[^"]*trigger(:|%3A)${loud.id}`), "it is live");
    const ofTrigger = await pages.asBob.get(`/organizations/acme/pipelines/web/triggers/${loud.id}`);
    assert.match(ofTrigger.text, /> *3 *<\/td><td>in the hour of <time/);
    assert.doesNotMatch((await read("?status=built")).text, /id="refused"/);
  });

  it("have pages", async () => {
    const { path } = await pages.acme.trigger({ label: "Many" });
    for (let sent = 0; sent < 32; sent++) await post(pages.url + path, "{}");
    const first = await read();
    const [, older = ""] = /href="([^"]*)">Older/.exec(first.text) ?? [];

    const second = await read("", older.replaceAll("&amp;", "&"));

    assert.deepEqual([first.rows.length, second.rows.length], [30, 5]);
    const [, newer = ""] = /href="([^"]*)">Newer/.exec(second.text) ?? [];
    assert.deepEqual((await read("", newer.replaceAll("&amp;", "&"))).rows.length, 30);
  });
});
