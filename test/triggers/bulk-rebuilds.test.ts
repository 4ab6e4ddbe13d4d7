import assert from "node:assert/strict";
import { it } from "node:test";
import { eq, inArray } from "drizzle-orm";
import { csrfTokenIn } from "../../scripts/scratch/visitor.ts";
import { deactivateUser } from "../../shared/accounts/users.ts";
import { newIds } from "../../shared/ids.ts";
import { doTasksJob } from "../../shared/jobs/contracts.ts";
import type { Services } from "../../shared/services/services.ts";
import { oldBulkRebuilds } from "../../shared/triggers/bulk-rebuilds/ask.ts";
import { deliveriesPerTransaction, rebuildNext } from "../../shared/triggers/bulk-rebuilds/run.ts";
import { deletePayloads } from "../../shared/triggers/payloads/store.ts";
import { deleteTrigger } from "../../shared/triggers/triggers.ts";
import { openWorkerJobs } from "../../workers/jobs.ts";
import { allBuilds, decide, runSlices } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { addPerson, setUpOrganization } from "../helpers/organization.ts";
import { startQueuePages } from "../helpers/pages.ts";

describeWorld("a bulk rebuild", startQueuePages, (pages, database) => {
  const built = "?status=built";

  /** A trigger of a new pipeline's place, with decided deliveries. */
  async function triggerWith(deliveries: number, event = "push") {
    const trigger = await pages.acme.trigger({ type: "github", secret: null });
    const at = `${pages.paths.pipeline}/triggers/${trigger.id}`;
    const ids = await deliver(trigger, deliveries, event);
    return { ...trigger, at, ids };
  }
  type Made = Awaited<ReturnType<typeof triggerWith>>;

  async function deliver({ path }: { path: string }, amount: number, event: string): Promise<string[]> {
    const ids: string[] = [];
    for (let sent = 0; sent < amount; sent++) {
      const { body } = await post(pages.url + path, "{}", { "X-GitHub-Event": event });
      ids.push(body.id);
    }
    await decide(pages.services, ids);
    return ids;
  }

  async function formOf({ at }: Pick<Made, "at">, query = built, member = pages.asBob) {
    const path = `${at}/rebuilds/new${query}`;
    const { status, text } = await member.get(path);
    assert.equal(status, 200, text);
    return { path, text, fields: fieldsIn(text) };
  }
  /** The fields that the form sends once the number is typed. */
  function fieldsIn(text: string) {
    const inputOf = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";
    const total = /Type ([\d,]+) to confirm/.exec(text)?.[1] ?? "";
    return { id: inputOf("id"), last: inputOf("last"), total, csrf_token: csrfTokenIn(text) ?? "" };
  }

  /** Returns the path of its page. */
  async function ask(trigger: Pick<Made, "at">, query = built, member = pages.asBob): Promise<string> {
    const { path, fields } = await formOf(trigger, query, member);
    const answer = await member.post(path, fields);
    assert.equal(answer.status, 303, answer.text);
    return answer.headers.get("location") ?? "";
  }

  const idOf = (path: string) => path.slice(-36);

  async function run(path: string, services: Services = pages.services) {
    await runSlices(rebuildNext, services, idOf(path));
  }

  async function rowOf(path: string) {
    const { bulkRebuilds } = pages.services.db.tables;
    const [row] = await pages.services.db
      .select()
      .from(bulkRebuilds)
      .where(eq(bulkRebuilds.id, idOf(path)));
    return row ?? assert.fail("It has no row.");
  }

  /** The rebuild numbers of each delivery. */
  async function rebuildsOf({ ids }: Pick<Made, "ids">) {
    const { db } = pages.services;
    const { builds } = db.tables;
    const rows = await db.select().from(builds).where(inArray(builds.deliveryId, ids)).orderBy(builds.number);
    return ids.map((id) => rows.filter(({ deliveryId }) => deliveryId === id).map(({ rebuild }) => rebuild));
  }
  const each = ({ ids }: Pick<Made, "ids">, rebuilds: number[]) => ids.map(() => rebuilds);

  /** Fails all transactions but the first ones, as when the process is killed. */
  function dyingAfter(transactions: number): Services {
    let left = transactions;
    const transaction: Services["db"]["transaction"] = async (work) => {
      if (left-- <= 0) throw new Error("killed");
      return pages.services.db.transaction(work);
    };
    return { ...pages.services, db: { ...pages.services.db, transaction } };
  }

  it("builds what the list shows, in its order, and leaves out what has no payload", async () => {
    const trigger = await triggerWith(deliveriesPerTransaction + 3);
    const others = await deliver(trigger, 2, "ping");
    const [evicted = "", ...kept] = trigger.ids;
    await pages.services.db.transaction((tx) => deletePayloads(tx, [evicted]));

    const list = (await pages.asBob.get(`${trigger.at}?event=push`)).text;
    assert.match(list, new RegExp(`href="${trigger.at}/rebuilds/new\\?event=push"`));
    const { text } = await formOf(trigger, `${built}&event=push`);
    assert.match(text, new RegExp(`Build ${trigger.ids.length} deliveries again\\?`));
    assert.match(text, /status built, event push/);
    assert.match(text, /<button type="submit">Build again</);
    const path = await ask(trigger, `${built}&event=push`);
    assert.match((await pages.asBob.get(trigger.at)).text, new RegExp(`href="${path}"`));
    const late = await deliver(trigger, 1, "push");
    await run(path);

    assert.deepEqual(await rebuildsOf({ ids: kept }), each({ ids: kept }, [0, 1]));
    assert.deepEqual(await rebuildsOf({ ids: [evicted, ...others, ...late] }), [[0], [0], [0], [0]]);
    const made = (await allBuilds(pages)).filter(({ rebuild }) => rebuild === 1);
    assert.deepEqual(
      made.sort((a, b) => a.number - b.number).map(({ deliveryId }) => deliveryId),
      kept,
    );
    assert.deepEqual([...new Set(made.map(({ creatorId }) => creatorId))], [pages.bob.id]);
    const shown = (await pages.asBob.get(path)).text;
    assert.match(shown, /class="state passed">.*>finished</);
    assert.match(shown, new RegExp(`<dt>Built again</dt><dd>${kept.length}</dd>`));
    assert.match(shown, /<dt>Left out<\/dt><dd>1: /);
    assert.doesNotMatch(shown, />Cancel</);
    assert.match((await pages.asBob.get(trigger.at)).text, /Bob asked to rebuild deliveries of/);
  });

  it("goes on after a kill, and builds no delivery twice", async () => {
    const trigger = await triggerWith(2 * deliveriesPerTransaction + 1);
    const path = await ask(trigger);

    await assert.rejects(run(path, dyingAfter(1)), /killed/);
    const before = await rowOf(path);
    const { jobs, close } = openWorkerJobs(pages.services);
    const job = jobs.find(({ contract }) => contract.name === doTasksJob.name);
    await job?.run();
    await eventually("it has finished", async () => (await rowOf(path)).finishedAt !== null);
    await close();
    await run(path);

    assert.deepEqual([before.built, before.finishedAt], [deliveriesPerTransaction, null]);
    assert.deepEqual(await rebuildsOf(trigger), each(trigger, [0, 1]));
    const { built, position, finishedAt } = await rowOf(path);
    assert.deepEqual([built, position], [trigger.ids.length, trigger.ids.at(-1)]);
    assert.ok(finishedAt);
  });

  it("builds no delivery twice when two workers run it at once", async () => {
    const other = await pages.another();
    const trigger = await triggerWith(2 * deliveriesPerTransaction + 1);
    const path = await ask(trigger);

    await Promise.all([run(path), run(path, other.services)]);
    await run(path); // if one of them lost a race

    assert.deepEqual(await rebuildsOf(trigger), each(trigger, [0, 1]));
    assert.equal((await rowOf(path)).built, trigger.ids.length);
  });

  it("stops when it is canceled, and keeps what was built", async () => {
    const trigger = await triggerWith(deliveriesPerTransaction + 1);
    const path = await ask(trigger);
    await assert.rejects(run(path, dyingAfter(1)), /killed/);

    assert.match((await pages.asBob.get(path)).text, />Cancel</);
    const answer = await pages.asBob.post(`${path}/cancel`);
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, path]);
    await run(path);
    await pages.asBob.post(`${path}/cancel`);

    const last = trigger.ids.slice(-1);
    assert.deepEqual(await rebuildsOf({ ids: last }), [[0]]);
    assert.equal((await rowOf(path)).built, deliveriesPerTransaction);
    assert.match((await pages.asBob.get(path)).text, /class="state canceled">.*canceled</);
    const history = (await pages.asBob.get(trigger.at)).text.match(/canceled the rebuild of deliveries of/g);
    assert.equal(history?.length, 1);
  });

  it("stops when its trigger is deleted", async () => {
    const trigger = await triggerWith(1);
    const path = await ask(trigger);
    await deleteTrigger(pages.services, pages.actor, trigger);

    await run(path);

    assert.ok((await rowOf(path)).canceledAt);
    assert.deepEqual(await rebuildsOf(trigger), [[0]]);
    assert.equal((await pages.asBob.get(path)).status, 404);
  });

  it("stops when who asked is deactivated", async () => {
    const trigger = await triggerWith(1);
    const carol = await addPerson(pages, pages.acme);
    const path = await ask(trigger, built, await pages.visitor(carol));
    await deactivateUser(pages.services, carol.email);

    await run(path);

    assert.deepEqual(await rebuildsOf(trigger), each(trigger, [0]));
    assert.ok((await rowOf(path)).canceledAt);
  });

  it("is asked for once when its form is sent twice", async () => {
    const trigger = await triggerWith(1);
    const { path, fields } = await formOf(trigger);

    const answers = await Promise.all([1, 2, 3].map(() => pages.asBob.post(path, fields)));
    const [location = ""] = answers.map(({ headers }) => headers.get("location") ?? "");
    await run(location);
    const late = await pages.asBob.post(path, fields);

    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303]));
    assert.deepEqual(new Set([...answers, late].map(({ headers }) => headers.get("location"))).size, 1);
    assert.deepEqual(await rebuildsOf(trigger), [[0, 1]]);
  });

  it("is refused while another of its trigger runs, or three of the organization", async () => {
    const triggers = [await triggerWith(1), await triggerWith(1), await triggerWith(1), await triggerWith(1)];
    const [first, second, third, fourth] = triggers as [Made, Made, Made, Made];
    const running = [await ask(first)];
    const again = await formOf(first);
    const answer = await pages.asBob.post(again.path, again.fields);
    assert.equal(answer.status, 422);
    assert.match(answer.text, /are being built again already\. Wait until that has finished, or cancel it\./);

    running.push(await ask(second), await ask(third));
    const more = await formOf(fourth);
    const refused = await pages.asBob.post(more.path, more.fields);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /Deliveries of 3 triggers of the organization/);

    for (const path of running) await run(path);
    await run(await ask(fourth));
    assert.deepEqual(
      await Promise.all(triggers.map(rebuildsOf)),
      triggers.map(() => [[0, 1]]),
    );
    await Promise.all(triggers.map((trigger) => deleteTrigger(pages.services, pages.actor, trigger)));
  });

  it("is refused for no deliveries, for those in process, and for too many", async () => {
    const trigger = await triggerWith(0);
    const refused = async (query: string, message: RegExp) => {
      const { status, text } = await pages.asBob.get(`${trigger.at}/rebuilds/new${query}`);
      assert.equal(status, 422);
      assert.match(text, message);
      assert.doesNotMatch(text, />Build again</);
    };
    await refused(built, /No delivery matches\./);
    await refused("?status=in+process", /in process cannot be built again/);
    await refused("?status=paused", /Status paused is not one of/);

    const { db, clock } = pages.services;
    const now = clock.now();
    const rows = newIds(now, 10_001).map((id) => ({
      id,
      triggerId: trigger.id,
      receivedAt: now,
      contentType: "application/json",
      externalId: null,
      event: "push",
      size: 2,
      status: "build_created" as const,
      reason: null,
      dueAt: now,
      organizationId: pages.acme.id,
      isFiltered: false,
    }));
    for (let from = 0; from < rows.length; from += 1000)
      await db.transaction((tx) => tx.insertMany(tx.tables.deliveries, rows.slice(from, from + 1000)));

    await refused(built, /More than 10,000 deliveries match\. .*: add an earliest and a latest time/);
    await refused("?event=push&status=built", /too many deliveries to look through: add an earliest/);
    await refused("?event=ping&status=built", /too many deliveries to look through: add an earliest/);
    await refused("?status=built&to=2000-01-01", /No delivery matches/);
  });

  it("needs a status that a person chose, and says how many of each the filter refused", async () => {
    const trigger = await triggerWith(2);
    const refused = await deliver(trigger, 3, "ping");
    await pages.services.db.transaction((tx) => {
      const { deliveries } = tx.tables;
      const notRun = { status: "not_run", reason: "filter_mismatch" } as const;
      return tx.update(deliveries).set(notRun).where(inArray(deliveries.id, refused));
    });
    const path = `${trigger.at}/rebuilds/new`;
    const { bulkRebuilds } = pages.services.db.tables;

    const asked = await pages.asBob.get(path);
    const unchosen = await pages.asBob.post(path, { ...fieldsIn(asked.text), total: "5" });
    const notRun = await formOf(trigger, "?status=not+run");
    const chosen = await formOf(trigger);

    assert.equal(asked.status, 200);
    assert.match(asked.text, /not run<span class="quiet hint">3 deliveries, which the filter refused</);
    assert.match(asked.text, /built<span class="quiet hint">2 deliveries</);
    assert.doesNotMatch(asked.text, /checked|in process|>Build again</);
    assert.equal(unchosen.status, 422);
    assert.match(unchosen.text, /Choose a status\./);
    assert.match(notRun.text, /The filter refused 3 of them\./);
    assert.match(chosen.text, /The filter refused none of them\./);
    const rows = await pages.services.db
      .select()
      .from(bulkRebuilds)
      .where(eq(bulkRebuilds.triggerId, trigger.id));
    assert.deepEqual(rows, []);
    await deleteTrigger(pages.services, pages.actor, trigger); // a pipeline has at most ten
  });

  it("needs the number of deliveries, and shows the page again when that has changed", async () => {
    const trigger = await triggerWith(3);
    const { path, fields } = await formOf(trigger);
    for (const total of ["", "2", "3.0", "three"]) {
      const answer = await pages.asBob.post(path, { ...fields, total });
      assert.equal(answer.status, 422, total);
      assert.match(answer.text, /The number of deliveries is 3: type it to confirm\./);
    }

    const later = await deliver(trigger, 1, "push");
    const [first = ""] = trigger.ids;
    await pages.services.db.transaction((tx) => {
      const { deliveries } = tx.tables;
      return tx.update(deliveries).set({ status: "failed" }).where(eq(deliveries.id, first));
    });
    const changed = await pages.asBob.post(path, fields);
    const answer = await pages.asBob.post(path, fieldsIn(changed.text));
    await run(answer.headers.get("location") ?? "");

    assert.equal(changed.status, 422);
    assert.match(changed.text, /The number of deliveries is 2: type it to confirm\./);
    assert.match(changed.text, /<h1>Build 2 deliveries again\?/);
    assert.equal(answer.status, 303);
    assert.deepEqual(await rebuildsOf(trigger), [[0], [0, 1], [0, 1]]);
    assert.deepEqual(await rebuildsOf({ ids: later }), [[0]]);
    await deleteTrigger(pages.services, pages.actor, trigger);
  });

  it("is hidden from other organizations, and is of its trigger alone", async () => {
    const trigger = await triggerWith(1);
    const path = await ask(trigger);
    const foreign = await setUpOrganization(pages, `other-${database.dialect}`);
    const stranger = await pages.visitor(foreign.user);
    const theirs = await foreign.trigger();
    const theirPath = `/organizations/${foreign.slug}/pipelines/web/triggers/${theirs.id}/rebuilds/${idOf(path)}`;
    const second = await triggerWith(0);

    for (const each of [path, theirPath]) {
      assert.equal((await stranger.get(each)).status, 404);
      assert.equal((await stranger.post(`${each}/cancel`)).status, 404);
    }
    assert.equal((await stranger.get(`${trigger.at}/rebuilds/new`)).status, 404);
    assert.equal((await stranger.post(`${trigger.at}/rebuilds/new${built}`)).status, 404);
    assert.equal((await pages.asBob.get(`${second.at}/rebuilds/${idOf(path)}`)).status, 404);
    assert.equal((await pages.asBob.get(`${trigger.at}/rebuilds/x`)).status, 404);
    assert.equal((await rowOf(path)).canceledAt, null);
    await run(path);
    assert.deepEqual(await rebuildsOf(trigger), [[0, 1]]);
  });

  it("is purged with the deliveries of its time, once it has finished", async () => {
    const trigger = await triggerWith(1);
    const path = await ask(trigger);
    const year = { now: () => new Date(pages.clock.now().getTime() + 365 * 86_400_000) };
    const later = { ...pages.services, clock: { ...pages.services.clock, ...year } };

    await oldBulkRebuilds.purge(later);
    assert.equal((await pages.asBob.get(path)).status, 200);
    await run(path);
    await oldBulkRebuilds.purge(pages.services);
    assert.equal((await pages.asBob.get(path)).status, 200);
    await oldBulkRebuilds.purge(later);
    assert.equal((await pages.asBob.get(path)).status, 404);
  });
});
