import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { visitor } from "../../../../scripts/scratch/visitor.ts";
import { createOrganization } from "../../../../shared/accounts/organizations.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { pauseDispatch } from "../../../../shared/dispatch/pause.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import { openRefusalCounts } from "../../../../shared/triggers/deliveries/refusal-counts.ts";
import { openRefusedRequests } from "../../../../shared/triggers/deliveries/refused-requests.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { addPerson } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const hourMs = 3_600_000;
const at = "/organizations/acme";

describeWorldOn(sqlite, "home", startQueuePages, (pages) => {
  const read = async (user = pages.ada, path = at) => (await (await pages.visitor(user)).get(path)).text;
  const words = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  const needs = (html: string) =>
    [...html.replace(/id="first-steps".*/s, "").matchAll(/<li data-part="[\w-]*".*?<\/li>/gs)].map(([row]) =>
      words(row).trim(),
    );

  it("says in one line of links what happens now, with zeros in grey", async () => {
    const html = await read();

    assert.match(
      words(html),
      /0 run 0 wait 0 blocked for you 0 queues paused 0 of 0 agents busy 0 refused this hour/,
    );
    assert.equal(html.match(/class="none"><a href/g)?.length, 6);
    assert.doesNotMatch(html, /Needs somebody/);
    for (const state of ["running", "scheduled", "blocked"]) {
      const link = `${at}/builds?state=${state}`;
      assert.ok(html.includes(`href="${link}"`));
      assert.equal((await pages.asAda.get(link)).status, 200);
    }
  });

  it("lists what is refused, waits for agents and is paused, each cause once with its button", async () => {
    const { services, acme, actor, clock } = pages;
    const [trigger, broken] = [
      await acme.trigger({ label: "Hook" }),
      await acme.trigger({ label: "Broken" }),
    ];
    clock.advance(hourMs - (clock.now().getTime() % hourMs) + 60_000);
    await buildWebhook(pages, trigger.path);
    await buildWebhook(pages, trigger.path);
    const counts = openRefusalCounts(services);
    counts.count(broken, "invalid_json");
    counts.count(broken, "invalid_signature");
    counts.count(broken, "invalid_signature");
    await counts.close();

    const html = await read();

    assert.match(words(html), /0 run 2 wait .* 3 refused this hour/);
    const row = /<li(?:(?!<\/li>).)*?Broken of Web/s.exec(html)?.[0] ?? "";
    assert.match(row, /class="icon tone-waits"/, "the color that the chart of deliveries has for refusals");
    const [refused = "", waiting = "", ...others] = needs(html).filter((row) => /Look|Start/.test(row));
    assert.match(refused, /^Broken of Web refused 3 deliveries: signature wrong or missing this hour Look/);
    assert.match(waiting, /^default no agent just now Start an agent/);
    assert.deepEqual(others, []);
    assert.ok(html.includes(`href="${pages.paths.queue}"`));

    await pauseDispatch(services, actor, acme.queue, "Until the <disk> is replaced");
    const paused = await read();
    assert.match(words(paused), /1 queue paused/);
    assert.match(
      words(paused),
      /default paused by Ada: Until the &lt;disk> is replaced just now Resume default/,
    );
    assert.doesNotMatch(words(paused), /no agent/);
    assert.match(words(await read(pages.bob)), /just now Look at default/);

    const resumed = await pages.asAda.post(`${pages.paths.queue}/resume`);
    assert.equal(resumed.status, 303);
    clock.advance(hourMs);
    assert.match(words(await read()), /signature wrong or missing the hour before Look/);
    clock.advance(hourMs);
    assert.doesNotMatch(await read(), /refused 3|paused by/);
  });

  it("has one row for all queues without an agent", async () => {
    const { services, actor, acme } = pages;
    const keys = ["build", "browser"];
    for (const key of keys) await createQueue(services, actor, acme.cluster, { key });
    const steps = keys.map((queue) => ({ command: "make", agents: { queue } }));
    await createPipeline(services, actor, { clusterId: acme.cluster.id, slug: "shop", name: "Shop", steps });
    const { number } = await buildWebhook(pages, (await acme.trigger({}, "shop")).path);

    assert.match(
      words(await read()),
      /3 queues have no agent: default , build , browser 2 hours ago Start an agent of default, build, browser/,
    );
    const build = await pages.asAda.get(`${at}/pipelines/shop/builds/${number}`);
    assert.match(
      words(build.text),
      /No agent of the queues build and browser is connected\. .*--queue build .*--queue browser/,
    );
  });

  it("shows five rows before the others unfold", async () => {
    const { services, actor, acme } = pages;
    const keys = ["one", "two", "three", "four", "five"];
    for (const key of keys) {
      const queue = await createQueue(services, actor, acme.cluster, { key });
      await pauseDispatch(services, actor, queue, null);
    }

    const [shown = "", unfolding = ""] = (await read()).split('id="more-needs"');

    assert.equal(shown.match(/paused by/g)?.length, 4);
    assert.match(words(unfolding), /All 6/);
    assert.equal(unfolding.match(/paused by/g)?.length, 1);
  });

  it("has a row for each pipeline, the last built first, and those whose name has a text", async () => {
    const rows = (html: string) =>
      [...html.matchAll(/<li data-part="[\w-]*" data-name="([^"]*)".*?<\/li>/gs)].map(([row, name]) => ({
        name,
        row,
      }));
    const all = rows(await read());
    assert.deepEqual(
      all.map(({ name }) => name),
      ["shop shop", "web web"],
    );
    assert.match(words(all[1]?.row ?? ""), /Web scheduled, #2 Triggered build/);
    assert.match(
      all[1]?.row ?? "",
      /<a class="tone-[^>]*title="#2 scheduled".*<a class="tone-[^>]*title="#1 scheduled"/s,
    );
    const named = rows(await read(pages.ada, `${at}?name=SHO`));
    assert.deepEqual(
      named.map(({ name }) => name),
      ["shop shop"],
    );
    assert.match(words(await read(pages.ada, `${at}?name=none`)), /No pipeline has this in its name/);
  });

  it("says how long builds of the default branch take, and how many pass", async () => {
    const { db } = pages.services;
    const { builds } = db.tables;
    const passed = { startedAt: new Date(0), finishedAt: new Date(65_000), workedMs: 65_000 };
    await db.transaction(async (tx) => {
      await tx
        .update(builds)
        .set({ ...passed, state: "passed" })
        .where(eq(builds.number, 1));
      await tx
        .update(builds)
        .set({ ...passed, state: "failed" })
        .where(eq(builds.number, 2));
    });
    const [, row = ""] = (await read()).split('data-name="web web"');
    assert.match(words(row), /1 min 5 s 50 %/);
    assert.match(row, /title="1 of 2 passed"/);
    const [, bars = ""] = /<span class="bars" aria-hidden="true">(.*?)<\/span>/.exec(row) ?? [];
    const bar = (tone: string, number: number, word: string) =>
      `<a class="tone-${tone} tall-10" href="${at}/pipelines/web/builds/${number}" title="#${number} ${word}" tabindex="-1"></a>`;
    assert.equal(bars, bar("failed", 2, "failed") + bar("passed", 1, "passed"));
  });

  it("shows the last builds that the reader made, pushed or unblocked", async () => {
    const mine = async (user = pages.ada) => {
      const [, list = ""] = (await read(user)).split('id="mine"');
      const text = list.split("</section>")[0]?.replaceAll(/<[^>]*>/g, "");
      return [...(text?.matchAll(/(Web|Shop) #\d+/g) ?? [])].map(([name]) => name);
    };
    assert.deepEqual(await mine(pages.bob), []);
    const { build } = await createBuildByHand(pages.services, pages.actor, pages.acme.pipeline, {
      source: "ui",
    });
    const { builds } = pages.services.db.tables;
    const push = (set: Partial<typeof builds.$inferInsert>) =>
      pages.services.db.transaction((tx) => tx.update(builds).set(set).where(eq(builds.number, 2)));
    const author = { email: "ADA@acme.example.com" };
    await push({ author });
    assert.deepEqual(await mine(), [`Web #${build.number}`, "Web #2"]);
    await push({ author, options: { is_fork: true } });
    assert.deepEqual(await mine(), [`Web #${build.number}`], "a fork says whom it likes");
  });

  it("says of each queue how many agents are busy, and how many jobs wait", async () => {
    const [, list = ""] = (await read()).split('id="agents"');
    assert.match(words(list), /default 0 of 0 busy 3 wait build 0 of 0 busy 1 wait/);
  });

  it("leads from / to the organization that was seen last", async () => {
    const ada = await pages.visitor(pages.ada);
    await ada.get("/organizations/globex");
    assert.equal((await ada.get("/")).headers.get("location"), "/organizations/globex");
    await ada.get(at);
    assert.equal((await ada.get("/?notice=saved")).headers.get("location"), `${at}?notice=saved`);
  });

  it("leads there by a cookie, so that each process and the next session can", async () => {
    const path = "/organizations/globex";
    const [cookie = ""] = (await (await pages.visitor(pages.ada)).get(path)).headers.getSetCookie();
    const [pair = ""] = cookie.split(";", 1);
    assert.equal(pair, `signalbox-organization=${pages.globex.id}`);
    assert.match(cookie, /; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/);

    const later = visitor(pages.url, `${await pages.cookieOf(pages.ada)}; ${pair}`);
    assert.equal((await later.get("/")).headers.get("location"), path);
    assert.deepEqual((await later.get(path)).headers.getSetCookie(), [], "it has the cookie");

    const stranger = visitor(pages.url, `${await pages.cookieOf(pages.bob)}; ${pair}`);
    assert.equal((await stranger.get("/")).headers.get("location"), at, "Bob is no member of it");
  });

  it("shows nothing of organizations that the visitor does not belong to", async () => {
    const other = await createOrganization(pages.services, { slug: "other", name: "Other" });
    const stranger = await addPerson(pages, other);
    assert.equal((await (await pages.visitor(stranger)).get(at)).status, 404);
    assert.doesNotMatch(words(await read(stranger, "/organizations/other")), /acme|Hook|Web #/);
  });

  it("keeps the number of a build behind a name that turns the direction of text", async () => {
    const { services, actor, acme } = pages;
    const turned = "Turned \u202e";
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: turned,
      slug: "turned",
      steps: [{ command: "make" }],
    });
    await createBuildByHand(services, actor, pipeline, { source: "ui" });

    for (const path of [at, `${at}/builds`])
      assert.ok((await read(pages.ada, path)).includes(`<bdi>${turned}</bdi> #1`), path);
  });

  it("no longer names a trigger that took a delivery after its last refusal", async () => {
    const { services, acme, clock } = pages;
    const [sampled, counted] = [
      await acme.trigger({ label: "Sampled" }),
      await acme.trigger({ label: "Counted" }),
    ];
    const refuse = async () => {
      const counts = openRefusalCounts(services);
      const samples = openRefusedRequests(services);
      for (const trigger of [sampled, counted]) counts.count(trigger, "invalid_json");
      const parts = { network: "192.0.2.0/24", headers: [], query: "", body: undefined };
      samples.add(sampled, "invalid_json", () => parts);
      await counts.close();
      await samples.close();
    };
    const named = async () => (await read()).match(/(Sampled|Counted) of Web/g) ?? [];
    const deliver = async () => {
      for (const { path } of [sampled, counted]) await buildWebhook(pages, path);
    };
    clock.advance(hourMs - (clock.now().getTime() % hourMs) + 60_000);
    await deliver();
    clock.advance(1000);
    await refuse();
    const both = new Set(["Sampled of Web", "Counted of Web"]);
    assert.deepEqual(new Set(await named()), both);

    clock.advance(1000);
    await deliver();
    assert.deepEqual(new Set(await named()), new Set(["Counted of Web"]), "only its hour is known");
    clock.advance(hourMs);
    await deliver();
    assert.deepEqual(await named(), []);
    await refuse();
    assert.deepEqual(new Set(await named()), both);
  });
});
