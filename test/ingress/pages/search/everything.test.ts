import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuilds } from "../../../../shared/builds/making/builds.ts";
import { minuteMs } from "../../../../shared/durations.ts";
import { createPipeline, defaultStep } from "../../../../shared/pipelines/pipelines.ts";
import { fillWords } from "../../../../shared/words/fill.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const at = "/organizations/acme/search";
const commit = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678";

describeWorld("the search of an organization", startQueuePages, (pages) => {
  let deliveryId: string;
  /** @returns the id of the new delivery */
  let deliver: (externalId: string) => Promise<string>;

  before(async () => {
    const { services, acme, actor } = pages;
    for (const name of ["Mobile web", "Webshop", "100% coverage"])
      await createPipeline(services, actor, { name, steps: [defaultStep], clusterId: acme.cluster.id });
    await make({ branch: "topic/<b>", commit, message: "Faster loops" });
    await make({ branch: "main", commit: "HEAD", message: "Slower loops" }, 7);
    pages.clock.advance(2 * minuteMs);
    await fillWords(services);
    await make({ branch: "topic/new", commit: "HEAD", message: "Loop once\n\nNo deadlock" });
    const { path } = await acme.trigger({ type: "github", label: "Hook" });
    deliver = async (externalId: string) => {
      const headers = { "X-GitHub-Event": "push", "X-GitHub-Delivery": externalId };
      return (await post(pages.url + path, "{}", headers)).body.id;
    };
    deliveryId = await deliver("72D3162E-cc78-11e3-81ab-4c9367dc0958");
    const token = await agentTokenOf(pages, acme.cluster);
    for (const name of ["builder-10", "builder-1"]) await startAgent(pages.url, token, { name });
  });

  const make = async (texts: { branch: string; commit: string; message: string }, request?: number) => {
    const { services, acme, clock } = pages;
    const asked = { pipelineId: acme.pipeline.id, deliveryId: null, source: "webhook" as const };
    await services.db.transaction(async (tx) => {
      const made = await createBuilds(
        tx,
        services,
        [{ ...asked, ...texts, environmentSealed: null }],
        clock.now(),
      );
      const { builds } = tx.tables;
      for (const { id } of made.builds)
        if (request) await tx.update(builds).set({ pullRequestNumber: request }).where(eq(builds.id, id));
    });
  };
  const search = async (q: string) => {
    const { status, text } = await pages.asBob.get(`${at}?${new URLSearchParams({ q })}`);
    assert.equal(status, 200, text);
    return text;
  };
  /** The texts of the links of each section, by its title. */
  const found = async (q: string) => {
    const sections = (await search(q)).matchAll(/<section[^>]*><h2[^>]*>([^<]*)<\/h2>(.*?)<\/section>/gs);
    return Object.fromEntries(
      [...sections].map(([, title, html = ""]) => [
        title,
        [...html.matchAll(/<a href="\/[^"]*">((?:[^<]|<\/?bdi>)*)<\/a>/g)].map(([, text]) =>
          text?.replace(/<\/?bdi>/g, ""),
        ),
      ]),
    );
  };

  it("finds names: as given first, then those that begin so, then those that contain it", async () => {
    assert.deepEqual((await found("WEB")).Pipelines, ["Web", "Webshop", "Mobile web"]);
    assert.deepEqual(await found("builder-1"), { Agents: ["builder-1", "builder-10"] });
    assert.deepEqual(await found(pages.acme.queue.key), { Queues: [pages.acme.queue.key] });
    assert.deepEqual((await found(pages.acme.cluster.name)).Clusters, [pages.acme.cluster.name]);
    assert.deepEqual(await found("bob@acme"), { Members: ["Bob"] });
  });

  it("takes signs of patterns as they are", async () => {
    assert.deepEqual(await found("0%"), { Pipelines: ["100% coverage"] });
    assert.deepEqual(await found("we_"), {});
  });

  it("finds builds by number, of one pipeline too, and by pull request", async () => {
    assert.deepEqual(await found("#1"), { "Builds of this number": ["Web #1"] });
    assert.deepEqual(await found("web#2"), { "Builds of this number": ["Web #2"] });
    assert.deepEqual(await found("webshop#2"), {});
    assert.deepEqual(await found("!7"), { "Last builds of this pull request": ["Web #2"] });
    assert.deepEqual(await found("#9999999999"), {});
  });

  it("finds builds by commit, branch and message", async () => {
    assert.deepEqual(await found("A1B2C3D"), { "Builds of this commit": ["Web #1"] });
    assert.deepEqual(await found("a1b2c3"), {});
    assert.deepEqual(await found("topic/<b>"), { "Builds of this branch": ["Web #1"] });
  });

  it("finds builds by words of their messages, those that have the words themselves first", async () => {
    assert.deepEqual(await found("LOOPS"), { "Builds with these words": ["Web #2", "Web #1"] });
    assert.deepEqual(await found("loop"), { "Builds with these words": ["Web #3", "Web #2", "Web #1"] });
    assert.deepEqual(await found("deadl"), { "Builds with these words": ["Web #3"] });
    assert.deepEqual(await found("loo fast"), { "Builds with these words": ["Web #1"] });
    assert.deepEqual(await found("oops"), {});
  });

  it("finds branches by their beginning, in upper or lower case", async () => {
    assert.deepEqual((await found("TOPIC/")).Branches, ["topic/&lt;b>", "topic/new"]);
  });

  it("finds a delivery by its id", async () => {
    assert.deepEqual(await found(deliveryId.toUpperCase()), { Deliveries: [deliveryId] });
  });

  it("finds a delivery by the id of its sender, by its beginning once it has its word", async () => {
    const whole = "72D3162E-cc78-11e3-81ab-4c9367dc0958";
    assert.deepEqual(await found(whole), { Deliveries: [deliveryId] });

    pages.clock.advance(2 * minuteMs);
    await fillWords(pages.services);

    assert.deepEqual(await found(whole), { Deliveries: [deliveryId] });
    assert.deepEqual((await found("72d3162e-CC")).Deliveries, [deliveryId]);
  });

  it("looks for the ids of senders without words among those of the last minutes only", async () => {
    const id = await deliver("e5f1-late");
    assert.deepEqual((await found("e5f1-late")).Deliveries, [id]);

    pages.clock.advance(16 * minuteMs);
    assert.equal((await found("e5f1-late")).Deliveries, undefined);

    await fillWords(pages.services);
    assert.deepEqual((await found("e5f1-late")).Deliveries, [id]);
  });

  it("does not find a delivery whose id of its sender is blank, when it looks for several others", async () => {
    const ids = [await deliver("f00d-1"), await deliver("f00d-2")].toReversed();
    await deliver("\u00a0");
    pages.clock.advance(2 * minuteMs);
    await fillWords(pages.services);

    assert.deepEqual((await found("f00d-")).Deliveries, ids);
  });

  it("says what can be found, and that nothing is", async () => {
    assert.match(await search(" "), /Here is what can be found/);
    assert.match(
      await search("<nowhere>"),
      /Nothing is called “&lt;nowhere>” here.*Here is what can be found/s,
    );
  });

  it("has a form in the head of each page of the organization", async () => {
    const { text } = await pages.asBob.get(pages.paths.pipeline);
    const [, action, field] =
      /<header.*?<form action="([^"]*)"><input type="search" name="([^"]*)"/s.exec(text) ?? [];
    assert.deepEqual([action, field], [at, "q"]);
    const guest = await pages.visitor();
    assert.doesNotMatch((await guest.get("/docs/steps")).text, /type="search"/);
  });

  it("finds nothing of other organizations, and answers 404 to those who are no member", async () => {
    const { status } = await pages.asBob.get("/organizations/globex/search?q=web");
    assert.equal(status, 404);
    const { text } = await pages.asAda.get(`/organizations/globex/search?q=${deliveryId}`);
    assert.match(text, /Nothing is called/);
    assert.match((await pages.asAda.get("/organizations/globex/search?q=web")).text, /Nothing is called/);
  });
});
