import assert from "node:assert/strict";
import { before, it } from "node:test";
import { chooseBuildMails, removeMember } from "../../shared/accounts/members.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { forgetHearers, putMailIsSent } from "../../shared/news/hearers.ts";
import type { buildMails } from "../../shared/vocabulary.ts";
import { describeWorld } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";
import { openNotices } from "./open-notices.ts";

describeWorld("mails to members", openNotices, (world) => {
  let bob: User;
  let slug: string;
  const mails = () => (world.mail.count() === 0 ? [] : world.mail.take());
  const choose = ({ id: userId }: User, choice: (typeof buildMails)[number]) =>
    chooseBuildMails(world.services, { organizationId: world.api.acme.id, userId }, choice);
  /** Runs a build as it is reported, and returns who heard. */
  const hear = async (exitStatus: number, more: Parameters<typeof world.report>[1]) => {
    await world.report(slug, more);
    await world.run(exitStatus);
    await world.tell();
    return mails()
      .map(({ to }) => to.join())
      .sort();
  };

  before(async () => {
    bob = await addPerson(world.api.world, world.api.acme, "member");
    slug = await world.newPipeline([{ command: "make" }]);
    // As a worker that sends mail does.
    await world.services.db.transaction((tx) => putMailIsSent(tx, true));
    forgetHearers(world.api.acme.id);
  });

  it("go to who made a build that failed, with a way to end them", async () => {
    const { number } = await world.build(slug, { message: "Mend" });
    await world.run(1);
    await world.tell();

    const { name } = await world.must("GET", `/pipelines/${slug}`);
    const [mail, ...more] = mails();
    assert.deepEqual(more, []);
    assert.deepEqual(mail?.to, [world.api.admin.email]);
    assert.equal(mail?.headers.subject, `Failed: ${name} #${number} (main)`);
    const page = `${world.api.world.config.appUrl}/organizations/acme/mails`;
    const link = /^<(.*\/unsubscribe\/sbun_[0-9a-f]{128})>$/.exec(
      mail?.headers["list-unsubscribe"] ?? "",
    )?.[1];
    assert.ok(link);
    assert.equal(mail?.headers["list-unsubscribe-post"], "List-Unsubscribe=One-Click");
    const text = mail?.parts["text/plain"] ?? "";
    assert.match(text, /You get this mail because you made the build\./);
    assert.ok(text.includes(`\nChange which mails you get: ${page}\nUnsubscribe: ${link}\n`));
    for (const url of [page, link]) assert.ok(mail?.parts["text/html"]?.includes(`href="${url}"`));
  });

  it("go to the author by their address, and to both", async () => {
    const author = { email: bob.email.toUpperCase(), name: "B" };
    assert.deepEqual(await hear(1, { author }), [bob.email]);
    const both = { author, creatorId: world.api.admin.id };
    assert.deepEqual(await hear(1, both), [world.api.admin.email, bob.email].sort());
    const one = { author: { email: bob.email }, creatorId: bob.id };
    assert.deepEqual(await hear(1, one), [bob.email]);
  });

  it("are as each member chooses", async () => {
    const both = { author: { email: bob.email }, creatorId: world.api.admin.id };
    assert.deepEqual(await hear(0, both), []);
    await choose(bob, "all");
    assert.deepEqual(await hear(0, both), [bob.email]);
    assert.deepEqual(await hear(1, both), [world.api.admin.email, bob.email].sort());
    await choose(bob, "none");
    assert.deepEqual(await hear(1, both), [world.api.admin.email]);
    await choose(bob, "failed");
  });

  it("go to nobody by what a fork or a stranger says", async () => {
    const author = { email: bob.email };
    assert.deepEqual(await hear(1, { author, options: { is_fork: true } }), []);
    assert.deepEqual(await hear(1, { author: { email: "eve@example.com" } }), []);
    assert.deepEqual(await hear(1, {}), []);
  });

  it("end with a choice or a membership, though they wait already", async () => {
    world.mail.refuseWith(451);
    assert.deepEqual(await hear(1, { creatorId: bob.id }), []);
    world.mail.refuseWith(undefined);
    await removeMember(world.services, { organization: "acme", email: bob.email });
    world.api.world.clock.advance(11_000);
    await world.tell();
    assert.deepEqual(mails(), []);
    const last = (await world.messages()).at(-1);
    assert.equal(last?.state, "dropped");
  });
});
