import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { findBuildMails } from "../../../../shared/accounts/member-store.ts";
import { chooseBuildMails, removeMember } from "../../../../shared/accounts/members.ts";
import type { User } from "../../../../shared/accounts/user-store.ts";
import { createCipher } from "../../../../shared/crypto/cipher.ts";
import { anyTokenPattern } from "../../../../shared/crypto/tokens.ts";
import { newId } from "../../../../shared/ids.ts";
import { readUnsubscribeToken, unsubscribeTokenOf } from "../../../../shared/notices/unsubscribe.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { request } from "../../../helpers/http.ts";
import { addPerson } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorld("the link in a mail that ends such mails", startQueuePages, (pages) => {
  let member: { organizationId: string; userId: string };
  let user: User;
  const chosen = () => findBuildMails(pages.services.db, member.organizationId, member.userId);
  const at = (path: string) => pages.url + path;
  const pathOf = (who = member, by = pages.services.cipher) =>
    `/unsubscribe/${unsubscribeTokenOf({ cipher: by }, who)}`;
  /** As a program that reads mails: it has no cookie, and no token of a form. */
  const oneClick = (path: string, body: URLSearchParams | FormData) => {
    body.set("List-Unsubscribe", "One-Click");
    return request(at(path), { method: "POST", body, redirect: "manual" });
  };

  beforeEach(async () => {
    user = await addPerson(pages, pages.acme, "member");
    member = { organizationId: pages.acme.id, userId: user.id };
  });

  it("shows a page with a button, and changes nothing before it is pressed", async () => {
    const { status, text, headers } = await request(at(pathOf()), {});
    assert.equal(status, 200);
    assert.match(text, /You get mails about your builds in acme/);
    assert.match(text, new RegExp(`<form method="post" action="${pathOf()}">`));
    assert.doesNotMatch(text, /<script/);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(await chosen(), "failed");
  });

  it("ends the mails by one POST, as a form of either type, and again", async () => {
    for (const body of [new URLSearchParams(), new FormData()]) {
      await chooseBuildMails(pages.services, member, "all");
      for (let times = 0; times < 2; times++) {
        const { status, text } = await oneClick(pathOf(), body);
        assert.equal(status, 200);
        assert.match(text, /You get no mails about your builds in acme/);
        assert.match(text, /href="\/organizations\/acme\/mails"/);
        assert.equal(await chosen(), "none");
      }
    }
    assert.match((await request(at(pathOf()), {})).text, /You get no mails/);
  });

  it("is the member's own, and of one organization", async () => {
    await oneClick(pathOf(), new URLSearchParams());
    assert.equal(await findBuildMails(pages.services.db, pages.acme.id, pages.ada.id), "failed");
  });

  it("404: a link that was changed, or made under another key", async () => {
    const other = { ...member, userId: pages.ada.id };
    const [ids, mac] = [pathOf(other).slice(0, -64), pathOf().slice(-64)];
    const strange = createCipher("another key of at least 32 characters");
    const none = { organizationId: newId(new Date()), userId: pages.ada.id };
    for (const path of [
      ids + mac,
      pathOf(other, strange),
      `${pathOf(other)}0`,
      "/unsubscribe/x",
      pathOf(none),
    ]) {
      const { status, text } = await oneClick(path, new URLSearchParams());
      assert.equal(status, 404, path);
      assert.match(text, /This link does not end mails/);
    }
    assert.equal(await findBuildMails(pages.services.db, pages.acme.id, pages.ada.id), "failed");
  });

  it("tells one who is no member any more that there are none", async () => {
    await removeMember(pages.services, { organization: "acme", email: user.email });
    assert.match((await oneClick(pathOf(), new URLSearchParams())).text, /You get no mails/);
  });

  it("is left out of logs, as tokens are", () => {
    assert.equal(pathOf().replace(anyTokenPattern, "[redacted]"), "/unsubscribe/[redacted]");
  });

  it("works until the key of its time is the previous key no more", () => {
    const [first, second, third] = ["first", "second", "third"].map((name) => `${name} key `.repeat(4));
    const token = unsubscribeTokenOf({ cipher: createCipher(first as string) }, member);
    const read = (key = "", previous?: string) =>
      readUnsubscribeToken({ cipher: createCipher(key, previous) }, token);
    assert.deepEqual([read(first), read(second, first)], [member, member]);
    assert.deepEqual([read(second), read(third, second)], [undefined, undefined]);
  });
});
