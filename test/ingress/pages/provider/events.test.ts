import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { decideDue } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { bitbucketChange, bitbucketPush } from "../../../sources/payloads.ts";
import { read } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme";

describeWorldOn(sqlite, "the page of a provider's delivery", startQueuePages, (pages) => {
  /** Delivers a push without a signature, and shows it. */
  const show = async (slug: string, push: object, name = `acme/${slug}`) => {
    const body = { ...push, repository: { full_name: name } };
    const { db } = pages.services;
    const sent = { cluster: pages.acme.cluster.id, rows: "0", slug };
    const answer = await pages.asBob.post(`${at}/new-pipeline`, {
      ...sent,
      repository: `https://bitbucket.org/acme/${slug}.git`,
    });
    const url = /<textarea id="webhook-url"[^>]*>([^<]*)</.exec(answer.text)?.[1] ?? "";
    const { triggers } = db.tables;
    await db.transaction(async (tx) => {
      await tx.update(triggers).set({ secretSealed: null }).where(eq(triggers.isProvider, true));
    });
    const path = pages.url + new URL(url).pathname;
    const delivery = await post(path, JSON.stringify(body), { "X-Event-Key": "repo:push" });
    assert.equal(delivery.status, 201, delivery.text);
    await decideDue(pages.services);
    const list = await pages.asBob.get(`${at}/pipelines/${slug}/provider`);
    const page = new RegExp(`href="(${at}/[^"]*/deliveries/${delivery.body.id})"`).exec(list.text)?.[1];
    return read(await pages.asBob.get(page ?? ""));
  };

  it("says what the event lacks", async () =>
    assert.match(
      await show("app", { push: {} }),
      /its event was not understood: push\.changes is missing: /,
    ));

  it("names another repository, and says what to do if it is the same", async () => {
    const page = await show("old-name", bitbucketPush(bitbucketChange()), "acme/new-name");
    assert.match(page, /another repository than the pipeline’s: acme\/new-name\. If that/);
  });

  it("says which changes of a push are left out", async () => {
    const changes = Array.from({ length: 500 }, () => bitbucketChange());
    assert.match(await show("shop", bitbucketPush(...changes)), /Only the first 20 of 500 changes are built/);
  });

  it("says nothing about a push that was built", async () =>
    assert.doesNotMatch(await show("web-shop", bitbucketPush(bitbucketChange())), /Left out|Why no build/));
});
