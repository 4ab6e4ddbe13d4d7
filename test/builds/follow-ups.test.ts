import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { openFollowUps } from "../../shared/builds/follow-ups/follow-ups.ts";
import type { FollowUpHandler } from "../../shared/builds/follow-ups/handlers.ts";
import { insertFollowUps, takeFollowUps } from "../../shared/builds/follow-ups/store.ts";
import { newId, newIds } from "../../shared/ids.ts";
import { createLog } from "../../shared/process/log.ts";
import { openServices, type Services } from "../../shared/process/services.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

describeOnBothDatabases("what a transaction makes due", (database) => {
  let world: World;
  /** Of a process that serves nothing: those that serve do follow-ups at once. */
  let services: Services;
  before(async () => {
    world = await startWorld(database);
    const log = createLog({ level: "debug", process: "test" }, { write: () => {} });
    services = openServices({ config: world.config, log, clock: world.clock });
  });
  after(async () => {
    await services.close();
    await world.close();
  });

  const newSubject = () => newId(services.clock.now());
  const makeDue = (subjectId: string) =>
    services.db.transaction((tx) => insertFollowUps(tx, "group", [subjectId]));
  const listRows = () => services.db.select().from(services.db.tables.followUps);
  /** A handler that notes for which subjects it had something to do. */
  const noting =
    (done: string[]): FollowUpHandler =>
    async ({ db }, subjectId) => {
      if (await db.transaction((tx) => takeFollowUps(tx, "group", subjectId))) done.push(subjectId);
    };

  it("is done after the commit by its process, and its row is gone", async () => {
    const done: string[] = [];
    const followUps = openFollowUps(services, { group: noting(done) });
    const subject = newSubject();
    await makeDue(subject);
    await followUps.idle();
    await followUps.close();

    assert.deepEqual(done, [subject]);
    assert.deepEqual(await listRows(), []);
  });

  it("is not done if the transaction is rolled back", async () => {
    const done: string[] = [];
    const followUps = openFollowUps(services, { group: noting(done) });
    const failed = services.db.transaction(async (tx) => {
      await insertFollowUps(tx, "group", [newSubject()]);
      throw new Error("on purpose");
    });
    await assert.rejects(failed, /on purpose/);
    await followUps.idle();
    await followUps.close();

    assert.deepEqual(done, []);
    assert.deepEqual(await listRows(), []);
  });

  it("is left for a few seconds, and then done by a worker, if its process was killed", async () => {
    const subjects = Array.from({ length: 250 }, newSubject);
    await services.db.transaction((tx) => insertFollowUps(tx, "group", subjects));
    const done: string[] = [];
    const early = openFollowUps(services, { group: noting(done) });
    await early.doLeftOver();
    await early.close();
    assert.deepEqual(done, []);

    const clock = { ...services.clock, now: () => new Date(services.clock.now().getTime() + 60_000) };
    const late = openFollowUps({ ...services, clock }, { group: noting(done) });
    await late.doLeftOver();
    await late.close();

    assert.deepEqual(done.sort(), subjects.sort());
    assert.deepEqual(await listRows(), []);
  });

  it("is done although thousands before it fail each time", async () => {
    const done: string[] = [];
    const bad = Array.from({ length: 2100 }, newSubject);
    const good = newSubject();
    const handler: FollowUpHandler = async (services, subjectId) => {
      if (subjectId !== good) throw new Error("on purpose");
      await noting(done)(services, subjectId);
    };
    await services.db.transaction((tx) => insertFollowUps(tx, "group", [...bad, good]));
    const clock = { ...services.clock, now: () => new Date(services.clock.now().getTime() + 60_000) };
    const followUps = openFollowUps({ ...services, clock }, { group: handler });

    await followUps.doLeftOver();
    assert.deepEqual(done, []);
    await followUps.doLeftOver();
    await followUps.close();

    assert.deepEqual(done, [good]);
    await services.db.transaction(async (tx) => tx.delete(tx.tables.followUps));
  });

  it("stays when it fails, and does not keep others from being done", async () => {
    const done: string[] = [];
    const [bad, good] = [newSubject(), newSubject()];
    const handler: FollowUpHandler = async (services, subjectId) => {
      if (subjectId === bad) throw new Error("on purpose");
      await noting(done)(services, subjectId);
    };
    const followUps = openFollowUps(services, { group: handler });
    await services.db.transaction((tx) => insertFollowUps(tx, "group", [bad, good]));
    await followUps.idle();
    await followUps.close();

    assert.deepEqual(done, [good]);
    assert.deepEqual(
      (await listRows()).map(({ subjectId }) => subjectId),
      [bad],
    );
  });

  it("keeps no organization waiting for another one that made much due", async () => {
    const [many, one] = [await newGroups(300), await newGroups(1)];
    const done: string[] = [];
    const followUps = openFollowUps(services, { group: noting(done) });
    await services.db.transaction((tx) => insertFollowUps(tx, "group", many));
    await services.db.transaction((tx) => insertFollowUps(tx, "group", one));
    await followUps.idle();
    await followUps.close();

    assert.equal(done.length, 301);
    assert.ok(done.indexOf(one[0] as string) < 20, `as the ${done.indexOf(one[0] as string)}th`);
  });

  it("keeps no organization waiting for what another one left over", async () => {
    const [many, one] = [await newGroups(300), await newGroups(1)];
    await services.db.transaction((tx) => insertFollowUps(tx, "group", many));
    await services.db.transaction((tx) => insertFollowUps(tx, "group", one));
    const done: string[] = [];
    const clock = { ...services.clock, now: () => new Date(services.clock.now().getTime() + 60_000) };
    const late = openFollowUps({ ...services, clock }, { group: noting(done) });
    await late.doLeftOver();
    await late.close();

    assert.equal(done.filter((each) => many.includes(each)).length, 300);
    // Follow-ups of the first organization are done while more are read.
    assert.ok(done.indexOf(one[0] as string) < 150, `as the ${done.indexOf(one[0] as string)}th`);
  });

  /** Of a new organization. @returns their ids */
  async function newGroups(number: number): Promise<string[]> {
    const slug = `org-${newSubject().slice(-8)}`;
    const { id: organizationId } = await setUpOrganization(world, slug);
    const ids = newIds(services.clock.now(), number);
    const createdAt = services.clock.now();
    const common = { organizationId, createdAt, reachedAt: null, reachedBuildId: null };
    const rows = ids.map((id) => ({ id, name: id, ...common }));
    await services.db.transaction((tx) => tx.insertMany(tx.tables.concurrencyGroups, rows));
    return ids;
  }
});
