import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuilds } from "../../../../shared/builds/create.ts";
import type { BuildState } from "../../../../shared/vocabulary.ts";
import { describeWithDatabase } from "../../../helpers/databases.ts";
import { type QueuePages, startQueuePages } from "../../../helpers/pages.ts";
import type { Visitor } from "../../../helpers/visitor.ts";

const builds: { state: BuildState; branch: string; commit: string; message: string }[] = [
  { state: "passed", branch: "main", commit: "9f2c1e07", message: "Faster loops" },
  { state: "failed", branch: "main", commit: "a1b2c3d4", message: "100% of all prices" },
  { state: "failing", branch: "topic/<b>", commit: "a1b2c3d4", message: "Slower loops" },
  { state: "canceled", branch: "topic/<b>", commit: "HEAD", message: "prices_of_today" },
  { state: "scheduled", branch: "main", commit: "HEAD", message: "\\ as it is" },
];

describeWithDatabase("the search for builds of a pipeline", (database) => {
  let pages: QueuePages;
  let bob: Visitor;

  before(async () => {
    pages = await startQueuePages(database);
    bob = await pages.visitor(pages.bob);
    for (const build of builds) await make(build);
  });
  after(() => pages.close());

  const make = async ({ state, ...texts }: (typeof builds)[number], amount = 1) => {
    const { services, acme, clock } = pages;
    const request = { pipelineId: acme.pipeline.id, deliveryId: null, source: "webhook" as const };
    const requests = Array.from({ length: amount }, () => ({
      ...request,
      ...texts,
      environmentSealed: null,
    }));
    await services.db.transaction(async (tx) => {
      const made = await createBuilds(tx, requests, clock.now());
      const { builds } = tx.tables;
      for (const { id } of made.builds) await tx.update(builds).set({ state }).where(eq(builds.id, id));
    });
  };
  const found = async (query: Record<string, string>) => {
    const { status, text } = await bob.get(`${pages.paths.pipeline}?${new URLSearchParams(query)}`);
    assert.equal(status, 200, text);
    return [...text.matchAll(/builds\/(\d+)">\s*#/g)].map(([, number]) => Number(number));
  };

  it("finds by state, branch, commit and a part of the message, and by all of them", async () => {
    assert.deepEqual(await found({}), [5, 4, 3, 2, 1]);
    assert.deepEqual(await found({ state: "running" }), [3]);
    assert.deepEqual(await found({ state: "failed" }), [2]);
    assert.deepEqual(await found({ branch: "topic/<b>" }), [4, 3]);
    assert.deepEqual(await found({ commit: "a1b2c3d4", branch: "main" }), [2]);
    assert.deepEqual(await found({ message: "LOOPS" }), [3, 1]);
    assert.deepEqual(await found({ message: " loops ", state: "passed", branch: "main", commit: "" }), [1]);
    assert.deepEqual(await found({ message: "loops", state: "canceled" }), []);
  });

  it("takes wildcards of databases as they are", async () => {
    assert.deepEqual(await found({ message: "0%" }), [2]);
    assert.deepEqual(await found({ message: "_of_" }), [4]);
    assert.deepEqual(await found({ message: "\\" }), [5]);
    assert.deepEqual(await found({ message: "%" }), [2]);
  });

  it("keeps what was searched in its form, its chips and its pages", async () => {
    await make({ state: "canceled", branch: "bulk", commit: "HEAD", message: "One of many" }, 31);
    const query = "state=canceled&branch=bulk";

    const { text } = await bob.get(`${pages.paths.pipeline}?${query}`);

    assert.match(text, /name="state" value="canceled"/);
    assert.match(text, /name="branch" value="bulk"/);
    assert.match(text, /\?state=canceled&amp;branch=bulk" aria-current="page">canceled</);
    assert.match(text, /href="[^"]*\?state=failed&amp;branch=bulk">failed</);
    const [, next = ""] = /href="([^"]*page=2[^"]*)">Next/.exec(text) ?? [];
    const second = await bob.get(next.replaceAll("&amp;", "&"));
    assert.equal(second.text.match(/builds\/\d+">\s*#/g)?.length, 1);
    assert.match(second.text, /name="branch" value="bulk"/);
    const odd = await bob.get(`${pages.paths.pipeline}?branch=${encodeURIComponent("topic/<b>")}`);
    assert.ok(!odd.text.includes("topic/<b>"), "escaped");
  });

  it("says that nothing matches, and what is wrong with an address", async () => {
    const none = await bob.get(`${pages.paths.pipeline}?message=nowhere`);
    assert.match(none.text, /No build matches/);
    for (const [query, message] of [
      ["state=blocked", /State blocked is not one of scheduled, running/],
      ["message=%00", /message to search for/],
      [`branch=${"x".repeat(1001)}`, /branch to search for is too long/],
    ] as const) {
      const refused = await bob.get(`${pages.paths.pipeline}?${query}`);
      assert.equal(refused.status, 422, query);
      assert.match(refused.text, message);
    }
  });
});
