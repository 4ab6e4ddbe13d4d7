import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { describeWithDatabase } from "../../../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../../../helpers/organization.ts";
import { type Visitor, visitor } from "../../../helpers/visitor.ts";
import { startWorld, type World } from "../../../helpers/world.ts";

describeWithDatabase("POST /user/api-access-tokens/new", (database) => {
  let world: World;
  let acme: TestOrganization;
  let ada: Visitor;

  before(async () => {
    world = await startWorld(database);
    acme = await setUpOrganization(world);
    ada = visitor(world.url);
    await ada.signIn(acme.user.email);
  });
  after(() => world.close());

  const newForm = async (description: string) => {
    const { text } = await ada.get("/user/api-access-tokens/new");
    const id = /name="id" value="([^"]+)"/.exec(text)?.[1] ?? "";
    return { id, description, organization: acme.id, scopes: "read_user" };
  };
  const send = (fields: Record<string, string>) => ada.post("/user/api-access-tokens/new", fields);

  it("creates one token when a form is sent several times at once", async () => {
    const fields = await newForm("Once");

    const answers = await Promise.all([send(fields), send(fields), send(fields)]);

    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  });

  it("answers 400 to a name with a NUL", async () => {
    assert.equal((await send(await newForm("a\0b"))).status, 400);
  });
});
