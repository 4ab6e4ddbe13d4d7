import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { listAuditEvents } from "../../../../shared/accounts/audit-store.ts";
import { expiredInvitations } from "../../../../shared/accounts/invitations.ts";
import { findRole } from "../../../../shared/accounts/member-store.ts";
import { addMember, removeMember, updateMember } from "../../../../shared/accounts/members.ts";
import { findUser } from "../../../../shared/accounts/user-store.ts";
import { deactivateUser } from "../../../../shared/accounts/users.ts";
import { hashToken } from "../../../../shared/crypto/tokens.ts";
import { dayMs, minuteMs } from "../../../../shared/durations.ts";
import { newId } from "../../../../shared/ids.ts";
import type { Role } from "../../../../shared/vocabulary.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { addPerson } from "../../../helpers/organization.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { assertRefused } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme";
const password = "a long enough password";

describeWorld("members", startQueuePages, (pages) => {
  let ada: Visitor;
  let bob: Visitor;

  before(async () => {
    ada = await pages.visitor(pages.ada);
    bob = await pages.visitor(pages.bob);
  });

  const roleOf = ({ id }: { id: string }) => findRole(pages.services.db, pages.acme.id, id);
  const join = (role: Role) => addPerson(pages, pages.acme, role);
  const auditOf = async (id: string) => {
    const subjects = { types: ["member", "invitation"], ids: [id] };
    const found = await listAuditEvents(pages.services.db, { organizationId: pages.acme.id, subjects }, 10);
    return found.map(({ event, actor }) => `${actor} ${event.action} ${event.subject}`);
  };
  const onlyAda = () =>
    updateMember(pages.services, { organization: "acme", email: pages.bob.email, role: "member" });
  const invite = async (fields: Record<string, string> = {}, maker = ada) => {
    const answer = await maker.post(`${at}/invitations`, { recipient: "Carol", role: "member", ...fields });
    const [, path = "", token = ""] = /(\/invitations\/(sbin_\w+))/.exec(answer.text) ?? [];
    return { answer, path, token };
  };
  const openIds = async () =>
    [...(await ada.get(`${at}/members`)).text.matchAll(/invitations\/([0-9a-f-]{36})\/revoke/g)].map(
      ([, id = ""]) => id,
    );

  describe("their list", () => {
    it("shows all to members, and what changes them to admins only", async () => {
      const page = await bob.get(`${at}/members`);
      assert.match(page.text, /ada@acme\.example\.com.*bob@acme\.example\.com/s);
      assert.doesNotMatch(page.text, /Make admin|\/remove|Invite somebody/);
      assert.match((await ada.get(`${at}/members`)).text, /Make admin.*Invite somebody/s);

      assert.equal((await bob.post(`${at}/members/${pages.ada.id}/role`, { role: "member" })).status, 403);
      assert.equal((await bob.get(`${at}/members/${pages.ada.id}/remove`)).status, 403);
      assert.equal((await bob.post(`${at}/members/${pages.ada.id}/remove`)).status, 403);
      assert.equal((await bob.post(`${at}/invitations`, { recipient: "x" })).status, 403);
      assert.equal((await bob.post(`${at}/invitations/${newId(new Date())}/revoke`)).status, 403);
    });

    it("is not found by others, and pages through", async () => {
      assert.equal((await bob.get("/organizations/globex/members")).status, 404);
      for (let made = 0; made < 31; made++)
        await addMember(pages.services, {
          organization: "globex",
          email: (await join("member")).email,
          role: "member",
        });

      const first = await ada.get("/organizations/globex/members");

      assert.match(first.text, /Page 1 of 2/);
      const next = /href="([^"]+)">Next</.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
      const second = await ada.get(next);
      assert.match(second.text, /Page 2 of 2/);
      const people = (text: string) => [...text.matchAll(/person-\d+@/g)].map(([person]) => person);
      assert.equal(new Set([...people(first.text), ...people(second.text)]).size, 31);
      assert.equal(people(first.text).length + people(second.text).length, 31);
    });
  });

  describe("an admin", () => {
    it("changes roles and removes members, in the audit log", async () => {
      const carol = await join("member");
      const role = `${at}/members/${carol.id}/role`;
      assert.equal(
        (await ada.post(role, { role: "admin" })).headers.get("location"),
        `${at}/members?notice=role_changed`,
      );
      assert.equal(await roleOf(carol), "admin");
      await ada.post(role, { role: "member" });
      assert.equal(await roleOf(carol), "member");
      assert.match((await ada.get(`${at}/members/${carol.id}/remove`)).text, /Remove Person\?/);
      const visitor = await pages.visitor(carol);
      assert.equal((await visitor.get(`${at}/pipelines`)).status, 200);

      await ada.post(`${at}/members/${carol.id}/remove`);

      assert.equal(await roleOf(carol), undefined);
      assert.equal((await visitor.get(`${at}/pipelines`)).status, 404);
      assert.deepEqual(await auditOf(carol.id), [
        `Ada removed ${carol.email}`,
        `Ada made member ${carol.email}`,
        `Ada made admin ${carol.email}`,
        `Operator added ${carol.email}`,
      ]);
      assert.equal((await ada.post(`${at}/members/${carol.id}/remove`)).status, 404);
      assert.equal((await ada.post(`${at}/members/nobody/role`)).status, 404);
    });

    it("stays while nobody else is one who can sign in", async () => {
      await onlyAda();
      const gone = await join("admin");
      await deactivateUser(pages.services, gone.email);
      const reason = "The last admin stays: make somebody else an admin first.";
      assertRefused(await ada.post(`${at}/members/${pages.ada.id}/role`, { role: "member" }), reason);
      const removal = await ada.post(`${at}/members/${pages.ada.id}/remove`);
      assert.match(removal.text, /The last admin stays/);
      assert.equal(await roleOf(pages.ada), "admin");
      assert.equal((await ada.post(`${at}/members/${gone.id}/remove`)).status, 303);
    });

    it("remains, of two who demote each other at once", async () => {
      for (let round = 0; round < 5; round++) {
        await onlyAda();
        const carol = await join("admin");
        const visitor = await pages.visitor(carol);
        await visitor.get(`${at}/members`);

        const answers = await Promise.all([
          ada.post(`${at}/members/${carol.id}/role`, { role: "member" }),
          visitor.post(`${at}/members/${pages.ada.id}/remove`),
        ]);

        const admins = [await roleOf(pages.ada), await roleOf(carol)].filter((role) => role === "admin");
        assert.equal(admins.length, 1, answers.map(({ status }) => status).join());
        await addMember(pages.services, {
          organization: "acme",
          email: pages.ada.email,
          role: "admin",
        }).catch(() =>
          updateMember(pages.services, { organization: "acme", email: pages.ada.email, role: "admin" }),
        );
        await ada.post(`${at}/members/${carol.id}/remove`);
      }
    });
  });

  describe("an invitation", () => {
    it("is shown once, listed while it is open, and revoked", async () => {
      const { answer, path, token } = await invite({ recipient: "Dora of sales", role: "admin" });
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, /Dora of sales.*not shown again/s);
      const list = await ada.get(`${at}/members`);
      assert.match(list.text, /Open invitations.*Dora of sales/s);
      assert.doesNotMatch(list.text, /sbin_/);
      const [id = ""] = await openIds();
      const rows = await pages.services.db.select().from(pages.services.db.tables.invitations);
      assert.equal(rows[0]?.tokenHash, hashToken(token));
      assert.ok(!JSON.stringify(rows).includes(token));
      assert.match((await pages.visitor().then((nobody) => nobody.get(path))).text, /an admin of/);

      const revoked = await ada.post(`${at}/invitations/${id}/revoke`);

      assert.equal(revoked.headers.get("location"), `${at}/members?notice=invitation_revoked`);
      assert.equal((await bob.get(path)).status, 404);
      assert.deepEqual(await auditOf(id), [
        "Ada revoked Dora of sales",
        "Ada created, for a new admin, Dora of sales",
      ]);
      assert.equal((await ada.post(`${at}/invitations/${id}/revoke`)).status, 404);
      assert.ok(!pages.logged.join().includes(token), "it is not in the log");
    });

    it("that is sent twice is created once", async () => {
      const id = newId(pages.clock.now());
      const { path } = await invite({ id });
      const again = await invite({ id });
      assert.equal(again.answer.headers.get("location"), `${at}/members?notice=invitation_shown`);
      assert.ok(path);
      assert.deepEqual(await openIds(), [id]);
      await ada.post(`${at}/invitations/${id}/revoke`);
    });

    it("needs a recipient, and says so beside the field", async () => {
      const { answer } = await invite({ recipient: " " });
      assert.equal(answer.status, 422);
      assert.match(answer.text, /id="field-recipient-problem">For can't be blank\./);
    });

    it("lets a new user register, who is signed in then", async () => {
      const { path } = await invite({ recipient: "Eve" });
      const eve = await pages.visitor();
      assert.match((await eve.get(path)).text, /New account/);
      const given = { name: "Eve", email: " EVE@acme.example.com", password };
      for (const [field, value] of [
        ["name", " "],
        ["email", "not an address"],
        ["email", `${randomBytes(6000).toString("hex")}@example.com`],
        ["email", "operator@initech.invalid"],
        ["password", "short"],
      ] as const) {
        const answer = await eve.post(path, { ...given, [field]: value });
        assert.equal(answer.status, 422);
        assert.match(answer.text, new RegExp(`id="field-${field}-problem"`));
        assert.ok(!answer.text.includes(password));
      }
      assert.match(
        (await eve.post(path, { ...given, email: pages.bob.email })).text,
        /This address has an account/,
      );

      const answer = await eve.post(path, given);

      assert.equal(answer.headers.get("location"), `${at}/pipelines?notice=joined`, answer.text);
      assert.equal((await eve.get(`${at}/pipelines`)).status, 200);
      const user = await findUser(pages.services.db, "eve@acme.example.com");
      assert.equal(await roleOf(user ?? assert.fail()), "member");
      assert.equal((await eve.get(path)).status, 404);
      assert.deepEqual(await openIds(), []);
    });

    it("lets a signed-in user join, but not a member", async () => {
      const { path } = await invite({ role: "admin" });
      assertRefused(await bob.post(path), "You are a member of this organization already.");
      const [id = ""] = await openIds();
      const fay = await addPerson(pages, { slug: "globex" });
      const visitor = await pages.visitor(fay);
      assert.match((await visitor.get(path)).text, /You are signed in as Person/);
      assert.equal(await roleOf(fay), undefined);

      assert.equal((await visitor.post(path)).status, 303);

      assert.equal(await roleOf(fay), "admin");
      assert.deepEqual((await auditOf(id))[0], "Person joined as admin by Carol");
    });

    it("lets one of two users of its link join, at any moment", async () => {
      for (let round = 0; round < 4; round++) {
        const { path } = await invite();
        const people = await Promise.all([1, 2, 3].map(() => addPerson(pages, { slug: "globex" })));
        const visitors = await Promise.all(people.map((person) => pages.visitor(person)));
        await Promise.all(visitors.map((visitor) => visitor.get(path)));

        const answers = await Promise.all(visitors.map((visitor) => visitor.post(path)));

        assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 404, 404]);
        const roles = await Promise.all(people.map(roleOf));
        assert.equal(roles.filter((role) => role !== undefined).length, 1);
      }
    });

    it("answers 404 for a link that was never made", async () => {
      for (const token of ["sbin_x", "x", `${(await invite()).token}0`])
        assert.equal((await bob.get(`/invitations/${token}`)).status, 404);
      for (const id of await openIds()) await ada.post(`${at}/invitations/${id}/revoke`);
    });

    it("limits guesses of addresses as sign-in does", async () => {
      const { path } = await invite();
      const nobody = await pages.visitor();
      const guess = () => nobody.post(path, { name: "x", email: pages.bob.email, password });
      const statuses: number[] = [];
      for (let tried = 0; tried < 11; tried++) statuses.push((await guess()).status);
      assert.equal(statuses.at(0), 422);
      assert.equal(statuses.at(-1), 429);
      for (const id of await openIds()) await ada.post(`${at}/invitations/${id}/revoke`);
    });

    it("expires after 7 days, and is purged", async () => {
      const { path } = await invite();
      pages.clock.advance(7 * dayMs - minuteMs);
      ada = await pages.visitor(pages.ada);
      bob = await pages.visitor(pages.bob);
      assert.equal((await bob.get(path)).status, 200);
      assert.equal(await expiredInvitations.purge(pages.services), 0);

      pages.clock.advance(minuteMs);

      assert.equal((await bob.get(path)).status, 404);
      assert.deepEqual(await openIds(), []);
      assert.equal(await expiredInvitations.purge(pages.services), 1);
    });

    it("ends with the rights of the admin who made it", async () => {
      const losses: Record<string, (email: string) => Promise<unknown>> = {
        demoted: (email) => updateMember(pages.services, { organization: "acme", email, role: "member" }),
        removed: (email) => removeMember(pages.services, { organization: "acme", email }),
        deactivated: (email) => deactivateUser(pages.services, email),
      };
      for (const [loss, lose] of Object.entries(losses)) {
        const maker = await join("admin");
        const { path } = await invite({ role: "admin" }, await pages.visitor(maker));
        const fay = await addPerson(pages, { slug: "globex" });
        const visitor = await pages.visitor(fay);
        assert.equal((await visitor.get(path)).status, 200);

        await lose(maker.email);

        assert.equal((await visitor.get(path)).status, 404, loss);
        assert.equal((await visitor.post(path)).status, 404, loss);
        assert.equal(await roleOf(fay), undefined, loss);
        assert.deepEqual(await openIds(), [], loss);
      }
    });

    it("is refused beyond 100 open ones", async () => {
      const { services, acme, clock, ada: admin } = pages;
      const rows = Array.from({ length: 100 }, (_, index) => ({
        id: newId(clock.now()),
        organizationId: acme.id,
        tokenHash: `${index}`,
        role: "member" as const,
        recipient: "x",
        createdAt: clock.now(),
        createdById: admin.id,
        expiresAt: new Date(clock.now().getTime() + dayMs),
      }));
      await services.db.transaction((tx) => tx.insertMany(tx.tables.invitations, rows));
      const { answer } = await invite({ recipient: "One more" });
      assert.equal(answer.status, 422);
      assert.match(answer.text, /value="One more"/);
      assert.equal((await openIds()).length, 100);
    });
  });
});
