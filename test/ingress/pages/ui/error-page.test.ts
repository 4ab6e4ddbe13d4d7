import assert from "node:assert/strict";
import { it } from "node:test";
import { csrfTokenIn } from "../../../../scripts/scratch/visitor.ts";
import { newId } from "../../../../shared/ids.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { request } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "an error page", startQueuePages, (pages) => {
  const menu = /<nav aria-label="Your account">.*bob@acme\.example\.com/;
  const bar = /<nav aria-label="acme">/;

  it("names the missing page in plain words, and keeps menu and organization", async () => {
    const { paths, clock } = pages;
    const id = newId(clock.now());
    for (const [path, words] of [
      [`${paths.cluster}/queues/${id}`, "This queue does not exist, or was deleted."],
      [`${paths.clusters}/${id}`, "This cluster does not exist, or was deleted."],
      [`${paths.pipelines}/nope`, "This pipeline does not exist, or was deleted."],
      [paths.build(99), "This build does not exist, or was deleted."],
    ] as const) {
      const { status, text } = await pages.asBob.get(path);
      assert.equal(status, 404);
      assert.ok(text.includes(`<p>${words}</p>`), path);
      assert.match(text, menu);
      assert.match(text, bar);
    }
  });

  it("hides an organization from users outside of it", async () => {
    const { status, text } = await pages.asBob.get("/organizations/globex/clusters");

    assert.equal(status, 404);
    assert.match(text, /This organization does not exist, or you are not a member of it\./);
    assert.match(text, menu);
    assert.doesNotMatch(text, /Globex|aria-label="Sections"/);
  });

  it("tells members which pages are for admins", async () => {
    const { status, text } = await pages.asBob.get(`${pages.paths.queue}/edit`);

    assert.equal(status, 403);
    assert.match(text, /<h1>No access<\/h1><p>Only admins of the organization can see this page\.</);
    assert.match(text, menu);
    assert.match(text, bar);
  });

  it("shows the menu for an unknown page, a wrong method and an outdated form", async () => {
    for (const [answer, status] of [
      [await pages.asBob.get("/nowhere"), 404],
      [await pages.asBob.get("/sign-out"), 405],
      [await pages.asBob.post("/oauth/device", { csrf_token: "x" }), 403],
    ] as const) {
      assert.equal(answer.status, status);
      assert.match(answer.text, menu);
    }
    const token = csrfTokenIn((await pages.asBob.get("/nowhere")).text) ?? "none";
    assert.equal(
      (await pages.asBob.post("/oauth/device", { csrf_token: token })).status,
      422,
      "its forms are accepted",
    );
  });

  it("shows no menu and sets no cookie without a session", async () => {
    for (const cookie of ["", "signalbox=nonsense"]) {
      const { status, text, headers } = await request(`${pages.url}/nowhere`, { headers: { cookie } });
      assert.equal(status, 404);
      assert.doesNotMatch(text, /Your account/);
      assert.deepEqual(headers.getSetCookie(), []);
    }
  });

  it("keeps the error when the session cannot be read", async (t) => {
    t.mock.method(pages.services.clock, "now", () => {
      throw new Error("the look-up fails");
    });

    const { status, text } = await pages.asBob.get("/nowhere");

    assert.equal(status, 404);
    assert.match(text, /There is nothing at this address/);
    assert.doesNotMatch(text, /Your account/);
  });
});
