import assert from "node:assert/strict";
import { before, it } from "node:test";
import { acceptInvitation, invite } from "../../shared/accounts/invitations.ts";
import { addMember, removeMember } from "../../shared/accounts/members.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { createUser } from "../../shared/accounts/users.ts";
import { newId } from "../../shared/ids.ts";
import type { Services } from "../../shared/services/services.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { addPerson, password } from "../helpers/organization.ts";
import { startQueuePages } from "../helpers/pages.ts";

const settings = { MEMBERS_PER_ORGANIZATION: "3" };

describeWorld("the limit of members", withSettings(startQueuePages, settings), (pages) => {
  let second: Services;
  let strangers: User[];

  before(async () => {
    second = (await pages.another()).services;
    strangers = await Promise.all(
      Array.from({ length: 6 }, () => addPerson({ services: withLimit(100) }, pages.globex)),
    );
  });

  const withLimit = (membersPerOrganization: number): Services => {
    const { services } = pages;
    return { ...services, config: { ...services.config, membersPerOrganization } };
  };
  const messageAt = (limit: number) =>
    `Organization has reached its limit of ${limit} members: remove one, or ask the operator to raise MEMBERS_PER_ORGANIZATION`;
  const refusal = { status: 422, message: messageAt(3) };
  const add = ({ email }: User, services = pages.services) =>
    addMember(services, { email, organization: "acme", role: "member" });
  const link = async () => {
    const input = { id: newId(new Date()), recipient: "Carol", role: "member" as const };
    return (await invite(pages.services, pages.actor, input))?.token ?? "";
  };

  it("is kept by people who join in two processes at once, by invitation or by the operator", async () => {
    const links = await Promise.all(strangers.map(link));

    const outcomes = await Promise.allSettled(
      strangers.map((user, index) =>
        index % 2 ? add(user, second) : acceptInvitation(pages.services, links[index] ?? "", user),
      ),
    );

    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    assert.equal(refused.length, 5);
    for (const { reason } of refused)
      assert.deepEqual([reason.status, reason.message], [refusal.status, refusal.message]);
  });

  it("is said by the page of an invitation, which stays open", async () => {
    const token = await link();
    const [first, last] = [strangers[0] as User, await addPerson({ services: withLimit(100) }, pages.globex)];
    const visitor = await pages.visitor(last);
    await visitor.get(`/invitations/${token}`);

    const { status, text } = await visitor.post(`/invitations/${token}`);

    assert.deepEqual([status, text.includes(`${messageAt(3)}.`)], [422, true]);
    for (const { email } of [pages.bob, first, ...strangers])
      await removeMember(pages.services, { email, organization: "acme" }).catch(() => undefined);
    assert.equal((await visitor.post(`/invitations/${token}`)).status, 303);
  });

  it("holds for users that the operator creates, and keeps members beyond a lower one", async () => {
    const create = (services: Services) =>
      createUser(services, {
        email: "new@acme.example.com",
        name: "New",
        password,
        role: "member",
        organization: "acme",
      });

    await assert.rejects(create(withLimit(2)), { status: 422, message: messageAt(2) });
    await assert.rejects(create(withLimit(1)), { status: 422, message: messageAt(1) });
    await create(withLimit(3));
  });
});
