import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { unknownId } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { openResources } from "./open-resources.ts";
import { fillIn, type Resource } from "./resource.ts";
import { resources } from "./resources.ts";

describeWorld("every resource", openResources, (pages) => {
  let otherCluster: string;
  before(async () => {
    await setUpOrganization(pages, "initech");
    otherCluster = (await pages.send("POST", "/clusters", { name: "Other" })).body.id;
  });

  for (const resource of resources) describe(resource.name, () => declareTests(resource));

  function declareTests(resource: Resource): void {
    const path = () => fillIn(resource.path, pages);
    const make = () => pages.make(resource);
    const { create, change, delete: remove, areForAll = false } = resource.forms;

    it(`is listed in pages, ${resource.isNewestFirst ? "newest" : "oldest"} first`, async () => {
      for (let made = 0; made < 3; made++) await make();
      const all = await pages.list(resource);
      const times = all.map(({ created_at }) => created_at);
      const page = await pages.send("GET", `${path()}?per_page=2&page=2`);
      const next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1];

      assert.deepEqual(times, resource.isNewestFirst ? times.toSorted().reverse() : times.toSorted());
      assert.deepEqual(page.body, all.slice(2, 4));
      assert.equal(next !== undefined, all.length > 4);
      assert.match(page.headers.get("link") ?? "", /rel="first".*rel="prev"/);
      assert.deepEqual((await pages.send("GET", `${path()}?page=99`)).body, []);
    });

    it("answers 404 outside of its owner, and once it is deleted", async () => {
      const { at, row } = await make();
      assert.deepEqual((await pages.send("GET", at)).body, row);

      const elsewhere = at.replace(pages.acme.cluster.id, otherCluster);
      for (const unknown of [
        `${path()}/${unknownId}`,
        `${path()}/x`,
        ...(elsewhere === at ? [] : [elsewhere]),
      ])
        for (const method of ["GET", "PATCH", "DELETE"])
          assert.equal((await pages.send(method, unknown, {})).status, 404, `${method} ${unknown}`);
      assert.equal((await pages.send("DELETE", at)).status, 204);
      for (const method of ["GET", "PATCH", "DELETE"])
        assert.equal((await pages.send(method, at, {})).status, 404, method);
    });

    it("is changed by PUT as by PATCH, and by an empty change not at all", async () => {
      const { at } = await make();
      const answers = [];
      for (const [method, body] of [
        ["PUT", resource.change],
        ["PATCH", resource.change],
        ["PUT", {}],
        ["PATCH", {}],
      ] as const) {
        const { status, body: row } = await pages.send(method, at, body);
        answers.push({ status, row: { ...row, updated_at: "" } });
      }
      assert.equal(answers[0]?.status, 200);
      for (const answer of answers) assert.deepEqual(answer, answers[0]);
    });

    it("is audited when it is created and deleted", async () => {
      const { at, row } = await make();
      await pages.send("DELETE", at);
      const filter = {
        organizationId: pages.acme.id,
        subjects: { types: [resource.subject], ids: [row.id] } as never,
      };
      const entries = await listAuditEvents(pages.services.db, filter, 10);
      const ended = remove === "/revoke" ? "revoked" : "deleted";
      assert.deepEqual(
        entries.map(({ event }) => event.action),
        [ended, "created"],
      );
    });

    it("is changed on pages by those who may, in their own organization, with a CSRF token", async () => {
      const { at: row } = await make();
      const shown = [...(change === undefined ? [] : [row + change]), row + remove];
      if (create !== "") shown.push(path() + create);
      const forms = [path() + create, ...shown.filter((each) => each !== path() + create)];
      const before = (await pages.send("GET", row)).body;

      for (const each of shown) {
        assert.equal((await pages.asAda.get(`/organizations/acme${each}`)).status, 200, each);
        const { status } = await pages.asBob.get(`/organizations/acme${each}`);
        assert.equal(status, areForAll ? 200 : 403, each);
        assert.equal((await pages.asAda.get(`/organizations/initech${each}`)).status, 404, each);
      }
      for (const each of forms) {
        const form = { name: "x", key: "x", value: "x" };
        if (!areForAll)
          assert.equal((await pages.asBob.post(`/organizations/acme${each}`, form)).status, 403, each);
        assert.equal((await pages.asAda.post(`/organizations/initech${each}`, form)).status, 404, each);
        const forged = { ...form, csrf_token: "wrong" };
        assert.equal((await pages.asAda.post(`/organizations/acme${each}`, forged)).status, 403, each);
      }
      assert.deepEqual((await pages.send("GET", row)).body, before);
    });
  }
});
