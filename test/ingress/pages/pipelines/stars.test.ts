import assert from "node:assert/strict";
import { it } from "node:test";
import { addMember, removeMember } from "../../../../shared/accounts/members.ts";
import { archivePipeline } from "../../../../shared/pipelines/archive.ts";
import { createPipeline, deletePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { starPipeline, unstarPipeline } from "../../../../shared/pipelines/stars/stars.ts";
import type { Pipeline } from "../../../../shared/pipelines/store.ts";
import { Refusal } from "../../../../shared/refusal.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const home = "/organizations/acme";

describeWorld("stars of pipelines", startQueuePages, (pages) => {
  const made = new Map<string, Pipeline>();
  const make = async (slug: string) => {
    const { services, actor, acme } = pages;
    const steps = [{ command: "make" }];
    const input = { clusterId: acme.cluster.id, slug, name: `The ${slug}`, steps };
    const pipeline = await createPipeline(services, actor, input);
    made.set(slug, pipeline);
    return pipeline;
  };
  const build = async (slug: string) => buildWebhook(pages, (await pages.acme.trigger({}, slug)).path);
  const rowsOf = async (visitor = pages.asAda, path = home) => {
    const { text } = await visitor.get(path);
    return [...text.matchAll(/<li data-part="[\w-]*" data-name="([^"]*)".*?<\/li>/gs)].map(
      ([row, name = ""]) => ({ name, isStarred: row.includes('aria-label="Unstar pipeline') }),
    );
  };
  const starredOf = async (visitor = pages.asAda, path = home) =>
    (await rowsOf(visitor, path)).flatMap(({ name, isStarred }) => (isStarred ? name : []));
  const star = (slug: string, fields: Record<string, string> = {}, visitor = pages.asAda) =>
    visitor.post(`${home}/pipelines/${slug}/star`, { is_starred: "true", ...fields });
  const countRows = async () => {
    const { stars } = pages.services.db.tables;
    return (await pages.services.db.select().from(stars)).length;
  };

  it("put a pipeline first on home, for the member alone", async () => {
    await make("api");
    await make("shop");
    await build("api");
    pages.clock.advance(1000);
    await build("shop");
    assert.deepEqual(
      (await rowsOf()).map(({ name }) => name),
      ["the shop shop", "the api api", "web web"],
    );

    const answer = await star("web", { from: "home" });

    assert.deepEqual([answer.status, answer.headers.get("location")], [303, home]);
    assert.deepEqual(
      (await rowsOf()).map(({ name }) => name),
      ["web web", "the shop shop", "the api api"],
    );
    assert.deepEqual(await starredOf(), ["web web"]);
    assert.deepEqual(await starredOf(pages.asBob), []);
  });

  it("are ordered by the last build among themselves", async () => {
    await star("api");
    assert.deepEqual(await starredOf(), ["the api api", "web web"]);
  });

  it("put a pipeline first in the list of pipelines too, whose other pages have the others", async () => {
    const listed = async (query = "", visitor = pages.asAda) => {
      const { text } = await visitor.get(`${home}/pipelines${query}`);
      return [...text.matchAll(/<li class="entry">.*?aria-label="(\w+) pipeline ([^"]*)"/gs)].map(
        ([, verb, name]) => `${verb} ${name}`,
      );
    };
    assert.deepEqual(await listed(), ["Unstar Web", "Unstar The api", "Star The shop"]);
    assert.deepEqual(await listed("", pages.asBob), ["Star Web", "Star The api", "Star The shop"]);

    const many = Array.from({ length: 31 }, (_, at) => `many-${at}`);
    for (const slug of many) {
      pages.clock.advance(1);
      await make(slug);
    }
    await star("many-29", { from: "pipelines" });

    const first = await listed();
    assert.deepEqual(first.slice(0, 4), [
      "Unstar Web",
      "Unstar The api",
      "Unstar The many-29",
      "Star The shop",
    ]);
    assert.deepEqual([first.length, await listed("?page=2")], [33, ["Star The many-30"]]);
    for (const slug of many) await deletePipeline(pages.services, pages.actor, made.get(slug) as Pipeline);
    const answer = await star("web", { from: "pipelines" });
    assert.equal(answer.headers.get("location"), `${home}/pipelines`);
  });

  it("have a button whose name says its state, on home and on the page of the pipeline", async () => {
    const { text } = await pages.asAda.get(`${home}/pipelines/web`);

    assert.match(text, /aria-label="Unstar pipeline Web"/);
    assert.match((await pages.asBob.get(`${home}/pipelines/web`)).text, /aria-label="Star pipeline Web"/);
    const gone = await star("web", { is_starred: "false" });
    assert.equal(gone.headers.get("location"), `${home}/pipelines/web`);
    assert.deepEqual(await starredOf(), ["the api api"]);
    assert.equal((await star("web", { is_starred: "false" })).status, 303, "a second click changes nothing");
  });

  it("lead back to the filtered home, whose starred pipelines come first", async () => {
    const answer = await star("api", { from: "home", filter: "a & o" });
    assert.equal(answer.headers.get("location"), `${home}?name=a+%26+o`);

    assert.deepEqual(await rowsOf(pages.asAda, `${home}?name=THE`), [
      { name: "the api api", isStarred: true },
      { name: "the shop shop", isStarred: false },
    ]);
    assert.deepEqual(await starredOf(pages.asAda, `${home}?name=shop`), []);
  });

  it("are one for two clicks at once", async () => {
    const before = await countRows();

    const answers = await Promise.all([star("shop"), star("shop"), star("shop")]);

    assert.deepEqual(
      answers.map(({ status }) => status),
      [303, 303, 303],
    );
    assert.equal(await countRows(), before + 1);
  });

  it("are refused to others than members, and for pipelines of others", async () => {
    const { services, globex, ada, bob, acme } = pages;
    const before = await countRows();

    assert.equal((await pages.asBob.post("/organizations/globex/pipelines/web/star", {})).status, 404);
    assert.equal((await pages.asAda.post("/organizations/globex/pipelines/web/star", {})).status, 404);
    const isNotFound = (error: unknown) => error instanceof Refusal && error.status === 404;
    const foreign = { organization: globex, userId: ada.id };
    await assert.rejects(starPipeline(services, foreign, acme.pipeline), isNotFound);
    const stranger = { organization: globex, userId: bob.id };
    await assert.rejects(starPipeline(services, stranger, acme.pipeline), isNotFound);
    await unstarPipeline(services, foreign, made.get("api") as Pipeline);
    assert.equal(await countRows(), before);
    const guest = await pages.visitor();
    const answer = await guest.post(`${home}/pipelines/web/star`, {});
    assert.match(answer.headers.get("location") ?? "", /sign-in/);
  });

  it("go with their pipeline, and leave home while it is archived", async () => {
    const { services, actor } = pages;
    const before = await countRows();
    await archivePipeline(services, actor, made.get("api") as Pipeline);
    assert.deepEqual(await starredOf(), ["the shop shop"]);

    const gone = await make("gone");
    await starPipeline(services, actor, gone);
    await deletePipeline(services, actor, gone);

    assert.equal(await countRows(), before);
    await assert.rejects(starPipeline(services, actor, gone), Refusal);
  });

  it("go with their member", async () => {
    const { services, bob } = pages;
    const before = await countRows();
    await star("web", {}, pages.asBob);
    assert.equal(await countRows(), before + 1);

    await removeMember(services, { organization: "acme", email: bob.email });

    assert.equal(await countRows(), before);
    await addMember(services, { organization: "acme", email: bob.email, role: "member" });
    assert.deepEqual(await starredOf(await pages.visitor(bob)), []);
  });

  it("are all on home, up to 50; then others are refused, with the reason", async () => {
    const { services, actor } = pages;
    const before = await countRows();
    for (let at = before; at < 49; at++) await starPipeline(services, actor, await make(`more-${at}`));
    await make("last");
    await make("beyond");

    const both = await Promise.all([star("last"), star("beyond")]);

    assert.deepEqual(both.map(({ status }) => status).sort(), [303, 422]);
    assert.match(
      both.find(({ status }) => status === 422)?.text ?? "",
      /Member has reached their limit of 50 starred pipelines in this organization: remove the star of one/,
    );
    assert.equal(await countRows(), 50);
    assert.equal((await star("shop")).status, 303, "it is starred already");
    const rows = await rowsOf();
    assert.equal(rows.filter(({ isStarred }) => isStarred).length, 49, "all but the archived one");
    assert.equal(rows.length, 49);
    assert.match((await pages.asAda.get(home)).text, /All pipelines/);
  });
});
