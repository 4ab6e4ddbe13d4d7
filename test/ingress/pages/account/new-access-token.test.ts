import assert from "node:assert/strict";
import { it } from "node:test";
import { restOperations } from "../../../../ingress/api/operations.ts";
import { usedScopes } from "../../../../shared/accounts/scopes.ts";
import { dayMs } from "../../../../shared/durations.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { get } from "../../../helpers/http.ts";
import { startPages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "POST /user/api-access-tokens/new", startPages, (pages) => {
  const newForm = async (description: string) => {
    const { text } = await pages.asAda.get("/user/api-access-tokens/new");
    const id = /name="id" value="([^"]+)"/.exec(text)?.[1] ?? "";
    return { id, description, organization: pages.acme.id, scopes: "read_user" };
  };
  const send = (fields: Record<string, string>) => pages.asAda.post("/user/api-access-tokens/new", fields);

  it("creates one token when a form is sent several times at once", async () => {
    const fields = await newForm("Once");

    const answers = await Promise.all([send(fields), send(fields), send(fields)]);

    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  });

  it("chooses the scopes of a preset without creating a token, and keeps the rest", async () => {
    const fields = await newForm("Script");
    const chosen = ({ text }: { text: string }) =>
      [...text.matchAll(/<input type="checkbox" name="scopes" value="(\w+)" checked/g)].map(
        ([, name]) => name,
      );

    const answer = await send({ ...fields, days: "30", preset: "builds" });

    assert.equal(answer.status, 200);
    assert.deepEqual(chosen(answer), ["read_pipelines", "read_builds", "read_build_logs", "write_builds"]);
    assert.match(answer.text, /value="Script".*<option value="30" selected/s);
    assert.match(answer.text, new RegExp(`<option value="${pages.acme.id}" selected`));
    assert.deepEqual(chosen(await send({ ...fields, preset: "none" })), []);
    assert.deepEqual(chosen(await send({ ...fields, preset: "all" })).sort(), [...usedScopes].sort());
    assert.match((await pages.asAda.get("/user/api-access-tokens")).text, /You have no tokens yet|Once/);
    assert.doesNotMatch((await pages.asAda.get("/user/api-access-tokens")).text, /Script/);
  });

  it("folds away the scopes that no operation needs", async () => {
    const needed = restOperations(pages.services).flatMap(({ scope }) => scope ?? []);
    assert.deepEqual([...usedScopes].sort(), [...new Set(needed)].sort());
    const { text } = await pages.asAda.get("/user/api-access-tokens/new");
    const [, folded = ""] = text.split('<details class="fold">');
    assert.match(folded, /value="read_suites"/);
    assert.doesNotMatch(folded, /value="read_builds"/);
  });

  it("answers 400 to a name with a NUL", async () => {
    assert.equal((await send(await newForm("a\0b"))).status, 400);
  });

  it("answers 422 without an organization or a scope, and for a scope beyond the role", async () => {
    const fields = await newForm("Half done");
    const { scopes: _, ...unticked } = fields;
    for (const [wrong, reason] of [
      [{ ...fields, organization: "" }, /id="field-organization"[^>]*aria-invalid.*Choose the organization/s],
      [unticked, /Choose at least one thing/],
      [{ ...fields, scopes: "write_clusters" }, /write_clusters needs an admin/],
    ] as const) {
      const { status, text } = await send(wrong);
      assert.equal(status, 422);
      assert.match(text, reason);
      assert.match(text, /value="Half done"/);
    }

    const ofAdmin = { ...fields, organization: pages.globex.id, scopes: "write_clusters" };
    assert.match((await send(ofAdmin)).text, /Token created/);
  });

  it("shows a token once, which works until it is revoked or expires", async () => {
    const make = async (description: string) => {
      const fields = await newForm(description);
      const { text } = await send({ ...fields, days: "30" });
      const token = /sbat_\w+/.exec(text)?.[0];
      return { works: async () => (await get(`${pages.url}/v2/user`, token)).status === 200, ...fields };
    };
    const [revoked, expired] = [await make("To revoke"), await make("To expire")];
    assert.ok((await revoked.works()) && (await expired.works()));
    const path = `/user/api-access-tokens/${revoked.id}/revoke`;
    assert.match((await pages.asAda.get(path)).text, /Programs that use “To revoke” are refused/);
    assert.equal((await pages.asAda.post(path)).status, 303);
    const listed = (await pages.asAda.get("/user/api-access-tokens")).text;
    assert.match(listed, /To expire/);
    assert.doesNotMatch(listed, /To revoke|sbat_/);
    assert.deepEqual([await revoked.works(), await expired.works()], [false, true]);

    pages.clock.advance(30 * dayMs + 1000);

    assert.equal(await expired.works(), false);
    const later = await pages.visitor(pages.ada);
    assert.doesNotMatch((await later.get("/user/api-access-tokens")).text, /To expire/);
  });
});
