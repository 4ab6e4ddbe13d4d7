import assert from "node:assert/strict";
import { it } from "node:test";
import { type BuildRequest, createBuilds } from "../../../../shared/builds/making/builds.ts";
import { buildRequest } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const url = "https://github.com/acme/site/pull/42";
const pull_request = {
  id: "42",
  title: "Make it <faster>",
  author: { username: "ada" },
  base_branch: "main",
  url,
};

describeWorldOn(sqlite, "pages about builds of source hosts", startQueuePages, (pages) => {
  const report = async (more: Partial<BuildRequest>): Promise<string> => {
    const { services, clock, acme } = pages;
    const request = { ...buildRequest(acme.pipeline.id), ...more };
    const { builds } = await services.db.transaction((tx) =>
      createBuilds(tx, services, [request], clock.now()),
    );
    return pages.paths.build(builds[0]?.number ?? 0);
  };
  const read = async (path: string) => {
    const { status, text } = await pages.asBob.get(path);
    assert.equal(status, 200, text);
    const [, main = ""] = /<main(.*)<\/main>/s.exec(text) ?? [];
    return { html: main, text: main.replace(/<[^>]*>/g, "").replace(/\s+/g, " ") };
  };

  it("name the pull request, who made it, and its page", async () => {
    const options = { pull_request, url };
    const path = await report({ message: "Make it <faster>", author: { name: "Ada L." }, options });

    const build = await read(path);
    assert.match(build.text, /Pull request#42 from ada: Make it &lt;faster>, into main/);
    assert.match(build.text, /AuthorAda L\./);
    assert.ok(build.html.includes(`<a href="${url}" rel="noreferrer">#42</a>`));
    assert.doesNotMatch(build.text, /Change|comes from a fork/);
    for (const list of [pages.paths.pipeline, "/organizations/acme/builds"]) {
      const { html, text } = await read(list);
      assert.match(text, /#42 from ada: Make it &lt;faster>/, list);
      assert.ok(html.includes(`<a href="${url}" rel="noreferrer">#42</a>`), list);
    }
  });

  it("show tag, merge queue and the change", async () => {
    const change = "https://git.example.com/acme/site/compare/a...b";
    const tagged = await read(await report({ branch: "v1.0", options: { tag: "v1.0", url: change } }));
    assert.match(tagged.text, /Tagv1\.0/);
    assert.ok(tagged.html.includes(`<a href="${change}" rel="noreferrer">git.example.com</a>`));

    const merge_queue = { base_branch: "trunk", base_commit: "abc" };
    assert.match((await read(await report({ options: { merge_queue } }))).text, /Merge queueinto trunk/);
    const list = await read(pages.paths.pipeline);
    assert.match(list.text, /maininto trunk/);
    assert.match(list.text, /tag v1\.0/);
  });

  it("link to https alone, and escape what strangers write", async () => {
    for (const odd of [
      "javascript:alert(1)",
      "http://git.example.com/x",
      "//evil.example.com",
      "https://",
      '"><x',
    ]) {
      const author = { username: "<x onload=y>" };
      const options = { pull_request: { id: "7", title: "<b>x", author, url: odd }, url: `${odd}#` };
      const { html } = await read(await report({ author: { name: "<x>" }, options }));
      assert.doesNotMatch(html, /<x|<b>x|javascript:|evil\.example|href="http:/, odd);
      assert.match(html, /#7 from &lt;x onload=y>: &lt;b>x/);
    }
  });

  it("name the author once, another who started the build, and where it came from", async () => {
    const { ada, bob } = pages;
    const lineOf = async (more: Partial<BuildRequest>) => {
      const { text } = await read(await report(more));
      return /HEAD(.*?)Waiting for/.exec(text)?.[1];
    };
    const author = { name: "Ada L.", email: "ADA@acme.example.com" };
    assert.equal(await lineOf({ author, creatorId: ada.id }), `by ${ada.name}from a webhook`);
    assert.equal(await lineOf({ author, creatorId: bob.id, source: "ui" }), "by Ada L., started by Bob");
    assert.equal(await lineOf({ author }), "by Ada L.from a webhook");
    assert.equal(await lineOf({ creatorId: bob.id, source: "schedule" }), "by Bobfrom a schedule");
    assert.equal(await lineOf({}), "from a webhook");
  });

  it("say in one line what builds of forks may not", async () => {
    const { text } = await read(await report({ options: { pull_request, is_fork: true } }));
    assert.match(text, /This build comes from a fork: its jobs get no secrets and no identity tokens, and /);
  });

  it("find builds by the number of a pull request", async () => {
    await report({ message: "of another", options: { pull_request: { id: "43" } } });
    for (const list of [pages.paths.pipeline, "/organizations/acme/builds"]) {
      for (const number of ["43", "%2343", "!43"]) {
        const { text } = await read(`${list}?pull_request=${number}`);
        assert.match(text, /#43: of another/);
        assert.doesNotMatch(text, /Make it/);
      }
      const { status, text } = await pages.asBob.get(`${list}?pull_request=x`);
      assert.equal(status, 422);
      assert.match(text, /x is no number of a pull request/);
    }
  });
});
