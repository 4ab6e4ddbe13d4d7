import assert from "node:assert/strict";
import { it } from "node:test";
import {
  createAccessToken,
  createOwnAccessToken,
  revokeAccessToken,
  revokeAccessTokenAsOperator,
} from "../../../../shared/accounts/access-tokens.ts";
import { audit } from "../../../../shared/accounts/audit.ts";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { setPassword } from "../../../../shared/accounts/users.ts";
import { newId } from "../../../../shared/ids.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const path = "/organizations/acme/audit";

describeWorld("the audit log", startQueuePages, (pages) => {
  const read = async (at = path) => (await pages.asAda.get(at)).text;
  const words = (html: string) => html.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");

  it("names a trigger's pipeline, and shows a token without a name as a token", async () => {
    const { services, acme } = pages;
    await acme.trigger({ label: "Hook" });
    const of = { organization: "acme", scopes: ["read_user"], expiresInHours: undefined };
    await createAccessToken(services, { ...of, email: pages.ada.email, description: "" });
    await createAccessToken(services, { ...of, email: pages.ada.email, description: "Script" });

    const text = words(await read());

    assert.match(text, /created the trigger Hook of Web/);
    assert.match(text, /created a token(?! )/);
    assert.match(text, /created the access token Script/);
  });

  it("names the owner or the Operator who created and revoked a token", async () => {
    const { services, acme } = pages;
    const input = { organizationId: acme.id, scopes: ["read_user"], expiresInHours: undefined };
    const [own, other] = [newId(services.clock.now()), newId(services.clock.now())];
    await createOwnAccessToken(services, pages.ada.id, { ...input, id: own, description: "Own" });
    await createOwnAccessToken(services, pages.ada.id, { ...input, id: other, description: "Other" });

    await revokeAccessToken(services, own, pages.ada.id);
    await revokeAccessTokenAsOperator(services, other);

    const text = words(await read());
    assert.match(text, /Ada created the access token Own/);
    assert.match(text, /Ada revoked the access token Own/);
    assert.match(text, /Operator revoked the access token Other/);
  });

  it("shows the operator's changes to the organization and its users", async () => {
    const { services, bob } = pages;
    await updateOrganization(services, "acme", { features: {} });
    await setPassword(services, bob.email, "a long password");

    const text = words(await read());

    assert.match(text, /Operator created the organization acme/);
    assert.match(text, /Operator updated the organization acme/);
    assert.ok(text.includes(`Operator set the password of the user ${bob.email}`));
  });

  it("links older entries, and the newest", async () => {
    const { services, acme, clock } = pages;
    const actor = { organization: acme, userId: pages.ada.id };
    for (let i = 1; i <= 230; i++) {
      clock.advance(1);
      const subject = { type: "member", id: acme.id, name: `number ${i}.` } as const;
      await services.db.transaction((tx) => audit(tx, actor, "updated", subject));
    }

    const first = await read();
    const older = /href="([^"]*\?before=[^"]*)">Older</.exec(first)?.[1] ?? assert.fail("no way to go on");
    const second = await read(older);

    assert.match(first, /number 230\..*number 131\./s);
    assert.doesNotMatch(first, /number 130\.|Newest/);
    assert.match(second, /number 130\..*number 31\./s);
    assert.doesNotMatch(second, /number (131|30)\./);
    assert.match(second, new RegExp(`href="${path}">Newest<`));
    const last = await read(/href="([^"]*\?before=[^"]*)">Older</.exec(second)?.[1]);
    assert.match(last, /number 30\..*number 1\..*created the/s);
    assert.doesNotMatch(last, /Older/);
    assert.equal((await pages.asAda.get(`${path}?before=x`)).status, 200);
  });

  it("is linked from every page of the organization, for admins only", async () => {
    const bob = await pages.visitor(pages.bob);
    const link = `<a href="${path}">Audit log</a>`;
    for (const page of [pages.paths.pipelines, pages.paths.queue]) {
      assert.ok((await read(page)).includes(link), page);
      assert.ok(!(await bob.get(page)).text.includes(link), page);
    }
    assert.match(await read(), /aria-current="page">Audit log</);
    assert.equal((await bob.get(path)).status, 403);
  });
});
