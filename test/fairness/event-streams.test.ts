import assert from "node:assert/strict";
import { it } from "node:test";
import type { Visitor } from "../../scripts/scratch/visitor.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { deactivateUser, setPassword } from "../../shared/accounts/users.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { addPerson } from "../helpers/organization.ts";
import { startQueuePages } from "../helpers/pages.ts";
import { onlyInFullRun } from "../helpers/run-mode.ts";
import { readMetric } from "../process/metrics/read.ts";

const settings = { TRUSTED_PROXIES: "127.0.0.1" };

describeWorldOn(sqlite, "event streams", withSettings(startQueuePages, settings), (pages) => {
  /** Signs in, and reads the address of the events of a page. */
  const arrive = async (user: User): Promise<{ visitor: Visitor; address: string }> => {
    const visitor = await pages.visitor(user);
    const { text } = await visitor.get(pages.paths.queue);
    const address = /data-events="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    return { visitor, address: address ?? assert.fail("not live") };
  };
  const open = async (
    { visitor, address }: { visitor: Visitor; address: string },
    count: number,
    ip = "192.0.2.1",
  ) => {
    const abort = new AbortController();
    const headers = { cookie: visitor.cookie, "x-forwarded-for": ip };
    const init = { headers, signal: abort.signal };
    const streams = await Promise.all(Array.from({ length: count }, () => fetch(pages.url + address, init)));
    return { streams, leave: () => abort.abort() };
  };
  const statusesOf = (streams: Response[]) => streams.map(({ status }) => status);

  it("are at most 20 a session: the next gets 429, older ones and other sessions go on", async () => {
    const [ada, bob] = [await arrive(pages.ada), await arrive(pages.bob)];
    const mine = await open(ada, 20);
    assert.deepEqual(new Set(statusesOf(mine.streams)), new Set([200]));

    const more = await open(ada, 5);
    assert.deepEqual(new Set(statusesOf(more.streams)), new Set([429]));
    assert.equal(more.streams[0]?.headers.get("retry-after"), "10");
    const others = await open(bob, 1);
    assert.deepEqual(statusesOf(others.streams), [200]);
    assert.equal(await readMetric(pages.services, "event_streams"), 21);

    mine.leave();
    await eventually("room again", async () => {
      const again = await open(ada, 1);
      again.leave();
      return statusesOf(again.streams)[0] === 200;
    });
    others.leave();
    await eventually("no stream", async () => (await readMetric(pages.services, "event_streams")) === 0);
  });

  it("are at most 100 a user, with any number of sessions", async () => {
    const statuses: number[] = [];
    const opened = [];
    for (let session = 0; session < 6; session++) {
      const group = await open(await arrive(pages.ada), 20);
      statuses.push(...statusesOf(group.streams));
      opened.push(group); // fetch ends a stream whose response is collected as garbage
    }

    const opened200 = statuses.filter((status) => status === 200).length;
    assert.ok(opened200 <= 100 && opened200 > 90, `${opened200}; some of the last test may still close`);
    for (const { leave } of opened) leave();
  });

  it("are at most half of all for a network, however many users it has", onlyInFullRun, async () => {
    await eventually("no stream", async () => (await readMetric(pages.services, "event_streams")) === 0);
    const statuses: number[] = [];
    const opened = [];
    for (let person = 0; person < 6; person++) {
      const user = await addPerson(pages, pages.acme);
      for (let session = 0; session < 5; session++) {
        const group = await open(await arrive(user), 20, "198.51.100.7");
        statuses.push(...statusesOf(group.streams));
        opened.push(group);
      }
    }
    const elsewhere = await open(await arrive(pages.bob), 20, "203.0.113.9");

    assert.deepEqual(new Set(statuses.slice(0, 500)), new Set([200]));
    assert.deepEqual(new Set(statuses.slice(500)), new Set([429]));
    assert.deepEqual(new Set(statusesOf(elsewhere.streams)), new Set([200]));
    for (const { leave } of [...opened, elsewhere]) leave();
  });

  it("end when their session does, in every process, and those of other sessions go on", async () => {
    const [leaving, staying] = [await arrive(pages.bob), await arrive(pages.bob)];
    const elsewhere = await pages.another();
    const { streams } = await open(leaving, 3);
    const there = await fetch(elsewhere.url + leaving.address, {
      headers: { cookie: leaving.visitor.cookie },
    });
    const other = await open(staying, 1);
    const ended = Promise.all([...streams, there].map((stream) => stream.text()));

    const answer = await leaving.visitor.post("/sign-out");

    assert.equal(answer.status, 303);
    for (const text of await ended) assert.match(text, /^retry: 3000/);
    const again = await fetch(pages.url + staying.address, { headers: { cookie: staying.visitor.cookie } });
    assert.equal(again.status, 200);
    await again.body?.cancel();
    other.leave();
  });

  const operatorActs: [title: string, act: (user: User) => Promise<unknown>][] = [
    ["sets the password", ({ email }) => setPassword(pages.services, email, "another long password")],
    ["deactivates the user", ({ email }) => deactivateUser(pages.services, email)],
  ];
  for (const [title, act] of operatorActs)
    it(`end when the operator ${title}`, async () => {
      const user = await addPerson(pages, pages.acme);
      const { streams } = await open(await arrive(user), 2);
      const ended = Promise.all(streams.map((stream) => stream.text()));

      await act(user);

      for (const text of await ended) assert.match(text, /^retry: 3000/);
    });
});
