import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { hourMs, minuteMs } from "../../../../shared/durations.ts";
import { requirePipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { GivenSettings } from "../../../../shared/sources/settings.ts";
import { decideDue } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { githubPush, githubRequest } from "../../../sources/github-payloads.ts";
import { read } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme/pipelines";
const words = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

describeWorldOn(sqlite, "a push that settings left out", startQueuePages, (pages) => {
  let made = 0;
  /** A pipeline whose webhook takes events without a signature. */
  const connect = async ({ branches = null, settings = {} }: Given = {}) => {
    const slug = `app-${++made}`;
    const { services, actor, acme } = pages;
    const sent = { cluster: acme.cluster.id, rows: "0", slug, repository: "git@github.com:acme/app.git" };
    const answer = await pages.asBob.post("/organizations/acme/new-pipeline", sent);
    const url = /<textarea id="webhook-url"[^>]*>([^<]*)</.exec(answer.text)?.[1] ?? "";
    const { triggers } = services.db.tables;
    await services.db.transaction(async (tx) => {
      await tx.update(triggers).set({ secretSealed: null }).where(eq(triggers.isProvider, true));
    });
    const pipeline = await requirePipeline(services.db, acme.id, slug);
    const change = { branchConfiguration: branches, providerSettings: settings };
    const limit = (given: typeof change) => updatePipeline(services, actor, pipeline, given);
    await limit(change);
    return {
      path: `${at}/${slug}`,
      limit,
      /** Delivers an event. @returns the path of its delivery's page */
      async deliver(body: object, event = "push") {
        const path = pages.url + new URL(url).pathname;
        const delivery = await post(path, JSON.stringify(body), { "X-GitHub-Event": event });
        assert.equal(delivery.status, 201, delivery.text);
        await decideDue(services);
        const list = await show(`${at}/${slug}/provider`);
        return new RegExp(`href="(${at}/[^"]*/deliveries/${delivery.body.id})"`).exec(list)?.[1] ?? "";
      },
    };
  };
  interface Given {
    branches?: string | null;
    settings?: GivenSettings;
  }
  const show = async (path: string) => read(await pages.asBob.get(path));
  const docs = githubPush({ ref: "refs/heads/docs" });

  it("names the branch and the patterns: in full on its page, cut in the list", async () => {
    const patterns = Array.from({ length: 30 }, (_, at) => `release/${at}`).join(" ");
    const { path, deliver, limit } = await connect({ branches: patterns });

    const delivery = await deliver(docs);

    const page = await show(delivery);
    assert.ok(words(page).includes(`Why no build docs is not among ${patterns} `));
    assert.ok(page.includes(`href="${path}/edit?unfold=others#field-branches"`));
    const list = words(await show(`${path}/provider`));
    assert.match(list, /not run docs is not among release\/0 release\/1 [^.]*…/);
    assert.ok(
      !list.slice(list.indexOf("Last deliveries"), list.indexOf("The webhook")).includes("release/29"),
    );
    const banner = /<p class="quiet">Last delivery.*?<\/p>/s.exec(await show(`${path}/provider`))?.[0] ?? "";
    assert.ok(banner.includes(`Last delivery <a href="${delivery}">`), "the banner leads to the delivery");
    assert.match(words(banner), /not run , docs is not among release\/0/);

    await limit({ branchConfiguration: "docs", providerSettings: {} });
    assert.match(words(await show(delivery)), /Why no build the pipeline does not build this branch/);
  });

  it("is compared with long patterns on its own page only", async () => {
    const patterns = Array.from({ length: 200 }, (_, at) => `release/${at}`).join(" ");
    const { path, deliver } = await connect({ branches: patterns });

    const delivery = await deliver(docs);

    assert.match(words(await show(delivery)), /Why no build docs is not among release\/0/);
    const list = words(await show(`${path}/provider`));
    assert.match(list, /not run docs: the pipeline does not build this branch/);
  });

  it("is named among the deliveries of the organization, by the limits of its own pipeline", async () => {
    const limited = await connect({ branches: "only-main" });
    const settings = { filter_enabled: true, filter_condition: "build.tag != null" };
    const filtered = await connect({ settings });
    await limited.deliver(docs);
    await filtered.deliver(docs);

    const list = words(await show("/organizations/acme/deliveries"));

    assert.match(list, /push GitHub of app not run docs: the filter left it out Make it faster /);
    assert.match(list, /push GitHub of app not run docs is not among only-main Make it faster /);
  });

  it("names the branches of pull requests", async () => {
    const settings = {
      pull_request_branch_filter_enabled: true,
      pull_request_branch_filter_configuration: "release/*",
    };
    const { path, deliver } = await connect({ settings });

    const page = await show(await deliver(githubRequest("opened"), "pull_request"));

    assert.match(words(page), /faster is not among release\/\*/);
    const field = `${path}/provider/settings?unfold=pull-requests#field-pull_request_branch_filter_configuration`;
    assert.ok(page.includes(`href="${field}"`));
    assert.match(await show(field), /<details id="pull-requests" class="fold" open/);
    assert.match(
      words(await show(path)),
      /Left out just now : pull request of faster , by Branches \. Make it faster /,
    );
  });

  it("shows what its condition read", async () => {
    const condition = '(build.branch == "main" || build.tag != null) && build.env("TOKEN") == null';
    const settings = { filter_enabled: true, filter_condition: condition };
    const { path, deliver } = await connect({ settings });

    const page = await show(await deliver(docs));

    assert.match(page, /<a href="[^"]*\/provider\/settings#field-filter_condition"><code>\(build\.branch/);
    assert.match(words(page), /build\.branch "docs" build\.tag is missing build\.env\("TOKEN"\) is missing/);
    assert.match(words(await show(path)), /Left out just now : push to docs , by the filter/);
    assert.match(words(await show(`${path}/provider`)), /not run docs: the filter left it out/);
  });

  it("would be built now, once the filter lets it through", async () => {
    const limitTo = (condition: string, branches: string | null = null) => ({
      branchConfiguration: branches,
      providerSettings: { filter_enabled: true, filter_condition: condition },
    });
    const { deliver, limit } = await connect({ settings: limitTo("false").providerSettings });
    const delivery = await deliver(docs);
    const now = /It would be built now/;
    assert.doesNotMatch(await show(delivery), now);

    await limit(limitTo('build.branch == "docs"'));
    assert.match(await show(delivery), now);
    await limit(limitTo('build.branch == "docs"', "main"));
    assert.doesNotMatch(await show(delivery), now, "the branches leave it out");
    assert.match(words(await show(delivery)), /build\.branch "docs"/, "the condition is read all the same");
    await limit({ branchConfiguration: null, providerSettings: { filter_enabled: false } });
    assert.match(await show(delivery), now);

    assert.equal((await pages.asBob.post(`${delivery}/rebuild`, { rebuild: "1" })).status, 303);
    assert.doesNotMatch(await show(delivery), now, "it is built");
  });

  it("leaves a quiet trace on the pipeline's page, until a newer build is there", async () => {
    const { path, deliver } = await connect({ branches: "main" });
    await deliver({}, "ping");
    assert.doesNotMatch(await show(path), /Left out/);

    const delivery = await deliver(docs);
    await deliver({}, "ping");

    const page = await show(path);
    assert.match(words(page), /Left out just now : push to docs , by Branches \. Make it faster /);
    assert.ok(page.includes('<p class="quiet">Left out'));
    assert.match(words(page), / Branches main /, "the name of the fact is that of the field");
    assert.ok(page.includes(`Left out <a href="${delivery}">`));
    assert.match(page, /data-events="[^"]*trigger(:|%3A)/);
    const edit = /by <a href="([^"]*)">Branches/.exec(page)?.[1] ?? "";
    assert.match(await show(edit), /<details id="others" class="fold" open/);
    assert.doesNotMatch(await show(`${path}?branch=main`), /Left out/);

    pages.clock.advance(2 * hourMs);
    assert.match(words(await show(path)), /Left out 2 hours ago/);
    await deliver(githubPush());
    assert.doesNotMatch(await show(path), /Left out/, "its build is newer");
    pages.clock.advance(minuteMs);
    const skipped = await deliver(githubPush({ after: "3".repeat(40) }, { message: "[skip ci] Typo" }));
    assert.match(
      words(await show(path)),
      /Left out just now : push to main , by its message\. \[skip ci\] Typo /,
    );

    pages.clock.advance(minuteMs);
    assert.equal((await pages.asBob.post(`${skipped}/rebuild`, { rebuild: "1" })).status, 303);
    assert.doesNotMatch(await show(path), /Left out/, "a member built it");
  });

  it("may be due to a character class: its page and its form warn of one", async () => {
    const warning = '<p class="warning">[skip] matches one of the letters s, k, i and p.';
    const { path, limit } = await connect();
    const save = (filter_condition: string) =>
      limit({ branchConfiguration: null, providerSettings: { filter_enabled: true, filter_condition } });
    const places = ["provider", "provider/settings"];

    await save("build.message !~ /[skip]/");
    for (const place of places) assert.ok((await show(`${path}/${place}`)).includes(warning), place);

    await save("build.message !~ /\\[skip\\]/");
    for (const place of places) assert.ok(!(await show(`${path}/${place}`)).includes(warning), place);
  });

  it("is told by what is built", async () => {
    const condition = "!build.pull_request.draft";
    const { path, limit, deliver } = await connect({
      branches: "main release/*",
      settings: {
        filter_enabled: true,
        filter_condition: condition,
        pull_request_branch_filter_enabled: true,
        pull_request_branch_filter_configuration: "fix/*",
      },
    });
    const built = async () => {
      const page = await show(`${path}/provider`);
      return /<section aria-labelledby="built">.*?<\/section>/s.exec(page)?.[0] ?? "";
    };
    const edit = `${path}/edit?unfold=others#field-branches`;
    const settings = `${path}/provider/settings#field-filter_condition`;

    assert.match(
      words(await built()),
      /only branches main release\/\* Of pull requests, only branches fix\/\* Of all of this, only what the filter is true for: !build\.pull_request\.draft/,
    );
    await deliver({}, "ping");
    const ping = async () =>
      / A ping reached .*? (The next push [^.]*?)\s*\./.exec(words(await show(`${path}/provider`)))?.[1];
    assert.equal(await ping(), "The next push makes a build, if the settings let it through");
    await limit({
      branchConfiguration: null,
      providerSettings: { filter_enabled: true, filter_condition: condition },
    });
    assert.match(words(await built()), /Of pushes, all branches, if the filter is true\. Limit them/);
    assert.match(
      words(await show(path)),
      / Branches all, if the filter is true Filter !build\.pull_request\.draft · What it builds /,
    );
    assert.equal(await ping(), "The next push makes a build, if the settings let it through");
    await limit({ branchConfiguration: null, providerSettings: { filter_enabled: false } });
    assert.equal(await ping(), "The next push makes a build");
    const unlimited = await built();
    assert.doesNotMatch(unlimited, /release|draft/, "it is kept, and not used");
    assert.ok(unlimited.includes(`Of pushes, all branches. <a href="${edit}">Limit them</a>`));
    assert.ok(unlimited.includes(`There is no filter. <a href="${settings}">Set one</a>`));
    assert.ok((await show(path)).includes(`none\u00a0· <a href="${path}/provider#built">What it builds</a>`));
    assert.ok((await show(edit)).includes(`has a filter. <a href="${settings}">See the filter</a>.`));
    assert.ok((await show(settings)).includes(`use <a href="${edit}">Branches</a> of the`));
  });
});
