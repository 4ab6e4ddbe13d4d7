import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { createOrganization } from "../../../../shared/accounts/organizations.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { addPerson } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "breadcrumbs and titles", startQueuePages, (pages) => {
  let trigger: string;

  before(async () => {
    const { id } = await pages.acme.trigger({ label: "GitHub push" });
    trigger = `${pages.paths.pipeline}/triggers/${id}`;
  });

  const read = async (path: string, visitor = pages.asAda) => {
    const { text } = await visitor.get(path);
    const trail = /<nav class="trail".*?<\/nav>/s.exec(text)?.[0] ?? "";
    return {
      title: /<title>(.*?)<\/title>/.exec(text)?.[1],
      crumbs: [...trail.matchAll(/href="([^"]*)">([^<]*)</g)].map(([, path, name]) => [name, path]),
    };
  };

  it("lead from a page to all above it, and say in the title where it is", async () => {
    const { paths } = pages;
    const ofPipeline = [
      ["Pipelines", paths.pipelines],
      ["Web", paths.pipeline],
    ];
    const ofTriggers = [...ofPipeline, ["Triggers", `${paths.pipeline}/triggers`]];
    const ofCluster = [
      ["Agents", paths.clusters],
      ["Primary", paths.cluster],
    ];
    const expected: [string, string, string[][]][] = [
      [paths.pipelines, "Pipelines · acme", []],
      [paths.pipeline, "Web · acme", ofPipeline.slice(0, 1)],
      [`${paths.pipeline}/triggers`, "Triggers · Web · acme", ofPipeline],
      [`${paths.pipeline}/triggers/new`, "New trigger · Web · acme", ofTriggers],
      [trigger, "GitHub push · Web · acme", ofTriggers],
      [`${trigger}/edit`, "Edit · GitHub push · Web · acme", [...ofTriggers, ["GitHub push", trigger]]],
      [paths.queue, "default · Primary · acme", ofCluster],
      [`${paths.queue}/edit`, "Edit · default · Primary · acme", [...ofCluster, ["default", paths.queue]]],
      ["/user/api-access-tokens/new", "New API access token · Signalbox", []],
    ];
    for (const [path, title, crumbs] of expected) {
      const page = await read(path);
      assert.equal(page.title, title);
      if (path.startsWith("/organizations")) assert.deepEqual(page.crumbs, crumbs, path);
    }
    const { crumbs } = await read("/user/api-access-tokens/new");
    assert.deepEqual(crumbs, [["API access tokens", "/user/api-access-tokens"]]);
  });

  it("leave out the page itself where a form answers with it, and stay on an error page", async () => {
    const refused = await pages.asAda.post(`${pages.paths.queue}/pause`, { note: "x".repeat(2001) });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /<title>default · Primary · acme</);

    const missing = await read(`${pages.paths.pipeline}/triggers/nothing`);
    assert.equal(missing.title, "Page not found · Web · acme");
    assert.deepEqual(missing.crumbs.at(-1), ["Triggers", `${pages.paths.pipeline}/triggers`]);
  });

  it("say nothing about another organization", async () => {
    const stranger = await pages.visitor(
      await addPerson(pages, await createOrganization(pages.services, { slug: "other", name: "Other" })),
    );
    assert.deepEqual(await read(trigger, stranger), { title: "Page not found · Signalbox", crumbs: [] });
  });

  it("leave the organization out of the title of an account's page, whose head leads back to it", async () => {
    await pages.asAda.get(pages.paths.pipelines);
    for (const path of [
      "/user/connected-apps",
      "/user/api-access-tokens",
      "/user/api-access-tokens/new",
      "/user/password",
      "/user/keyboard",
      "/oauth/device",
      "/docs",
      "/docs/steps",
    ]) {
      const { text } = await pages.asAda.get(path);
      assert.match(text, /<title>[^<]* · Signalbox</, path);
      assert.match(text, /<summary><span class="name">acme</, path);
      assert.ok(text.includes(`href="${pages.paths.pipelines}"`), path);
    }
  });

  it("name on an account's page the organization that its browser saw last", async () => {
    const [one, other] = [await pages.visitor(pages.ada), await pages.visitor(pages.ada)];
    await one.get("/organizations/globex");
    await other.get(pages.paths.pipelines);
    const ownerOn = async (visitor: Visitor, path: string) =>
      /<summary><span class="name">([^<]*)</.exec((await visitor.get(path)).text)?.[1];

    for (const path of ["/user/password", "/docs/steps", "/user/api-access-tokens/nothing/revoke"]) {
      assert.equal(await ownerOn(one, path), "Globex Corporation", path);
      assert.equal(await ownerOn(other, path), "acme", path);
    }
    const { title } = await read("/user/api-access-tokens/nothing/revoke", one);
    assert.equal(title, "Page not found · Signalbox");
  });

  it("have the other organizations of people in several in the organization's menu", async () => {
    const bob = await pages.visitor(pages.bob);
    const menuOf = async (visitor: Visitor) =>
      /<details class="menu owner".*?<\/details>/s.exec(
        (await visitor.get(pages.paths.pipelines)).text,
      )?.[0] ?? "";

    const [ofAda, ofBob] = [await menuOf(pages.asAda), await menuOf(bob)];

    assert.match(ofAda, /<summary><span class="name">acme<\/span>/);
    assert.match(ofAda, /Other organizations.*<a href="\/organizations\/globex">Globex Corporation<\/a>/);
    assert.match(ofBob, /<summary><span class="name">acme<\/span>/);
    assert.doesNotMatch(ofBob, /Other organizations|globex/i);
  });
});
