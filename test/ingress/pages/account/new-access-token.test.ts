import assert from "node:assert/strict";
import { before, it } from "node:test";
import { restOperations } from "../../../../ingress/api/operations.ts";
import { type Visitor, visitor } from "../../../../scripts/scratch/visitor.ts";
import { usedScopes } from "../../../../shared/accounts/scopes.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { openAcme } from "../../../helpers/organization.ts";

describeWorldOn(sqlite, "POST /user/api-access-tokens/new", openAcme, (world) => {
  let ada: Visitor;

  before(async () => {
    ada = visitor(world.url);
    await ada.signIn(world.acme.user.email);
  });

  const newForm = async (description: string) => {
    const { text } = await ada.get("/user/api-access-tokens/new");
    const id = /name="id" value="([^"]+)"/.exec(text)?.[1] ?? "";
    return { id, description, organization: world.acme.id, scopes: "read_user" };
  };
  const send = (fields: Record<string, string>) => ada.post("/user/api-access-tokens/new", fields);

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
    assert.match(answer.text, new RegExp(`<option value="${world.acme.id}" selected`));
    assert.deepEqual(chosen(await send({ ...fields, preset: "none" })), []);
    assert.deepEqual(chosen(await send({ ...fields, preset: "all" })).sort(), [...usedScopes].sort());
    assert.match((await ada.get("/user/api-access-tokens")).text, /You have no tokens yet|Once/);
    assert.doesNotMatch((await ada.get("/user/api-access-tokens")).text, /Script/);
  });

  it("folds away the scopes that no operation needs", async () => {
    const needed = restOperations(world.services).flatMap(({ scope }) => scope ?? []);
    assert.deepEqual([...usedScopes].sort(), [...new Set(needed)].sort());
    const { text } = await ada.get("/user/api-access-tokens/new");
    const [, folded = ""] = text.split('<details class="fold">');
    assert.match(folded, /value="read_suites"/);
    assert.doesNotMatch(folded, /value="read_builds"/);
  });

  it("answers 400 to a name with a NUL", async () => {
    assert.equal((await send(await newForm("a\0b"))).status, 400);
  });
});
