import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";
import { startQueuePages } from "../helpers/pages.ts";

const settings = { TRUSTED_PROXIES: "127.0.0.1" };

describeWorldOn(sqlite, "event streams of one network", withSettings(startQueuePages, settings), (pages) => {
  it("are at most half of all, however many users it has; other networks have room", async () => {
    const abort = new AbortController();
    const kept: Response[] = []; // fetch ends a stream whose response is collected as garbage
    const open = async (ip: string, cookie: string, count: number) => {
      const headers = { cookie, "x-forwarded-for": ip };
      const text = await (await fetch(pages.url + pages.paths.queue, { headers })).text();
      const address = /data-events="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? assert.fail(text);
      const init = { headers, signal: abort.signal };
      const streams = await Promise.all(
        Array.from({ length: count }, () => fetch(pages.url + address, init)),
      );
      kept.push(...streams);
      return streams.map(({ status }) => status);
    };
    const statuses: number[] = [];

    for (let person = 0; person < 6; person++) {
      const user = await addPerson(pages, pages.acme);
      for (let session = 0; session < 5; session++)
        statuses.push(...(await open("198.51.100.7", (await pages.visitor(user)).cookie, 20)));
    }
    const elsewhere = await open("203.0.113.9", (await pages.visitor(pages.ada)).cookie, 20);
    abort.abort();

    assert.deepEqual(new Set(statuses.slice(0, 500)), new Set([200]));
    assert.deepEqual(new Set(statuses.slice(500)), new Set([429]));
    assert.deepEqual(new Set(elsewhere), new Set([200]));
    assert.equal(kept.length, 620);
  });
});
