import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { base } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

interface Page {
  items: { id: string }[];
  links: { self: string; first?: string; prev?: string; next?: string };
}

describeWorld("lists of triggers and of deliveries", openTriggerApi, (api) => {
  const lists: Record<"triggers" | "deliveries", { path: string; ids: string[] }> = {
    triggers: { path: "", ids: [] },
    deliveries: { path: "", ids: [] },
  };

  before(async () => {
    const { slug } = await api.newPipeline();
    lists.triggers.path = api.triggersAt(slug);
    for (let made = 0; made < 10; made++) lists.triggers.ids.unshift((await api.newTrigger({}, slug)).id);
    const trigger = await api.newTrigger();
    lists.deliveries.path = `${api.triggersAt()}/${trigger.id}/deliveries`;
    for (let sent = 0; sent < 10; sent++) lists.deliveries.ids.unshift(await api.deliver(trigger));
  });

  const read = async (address: string): Promise<Page> => {
    const answer = await api.send("GET", address.replace(base, ""));
    assert.equal(answer.status, 200, `${address} ${answer.text}`);
    assert.deepEqual(Object.keys(answer.body), ["items", "links"]);
    assert.equal(answer.body.links.self, address.startsWith(base) ? address : base + address);
    return answer.body;
  };
  const idsOf = ({ items }: Page) => items.map(({ id }) => id);
  const walk = async (from: string, direction: "next" | "prev"): Promise<Page[]> => {
    const pages = [await read(from)];
    for (let link = pages[0]?.links[direction]; link; link = pages.at(-1)?.links[direction])
      pages.push(await read(link));
    return pages;
  };

  for (const name of ["triggers", "deliveries"] as const) {
    const list = lists[name];
    describe(`of ${name}`, () => {
      it("is one page without links if all items fit, newest first", async () => {
        for (const address of [list.path, `${list.path}?per_page=10`, `${list.path}?per_page=100`]) {
          const page = await read(address);
          assert.deepEqual(idsOf(page), list.ids);
          assert.deepEqual(page.links, { self: base + address });
        }
      });

      for (const size of [1, 3, 5, 9]) {
        it(`returns each item once by ${size}, forwards and backwards`, async () => {
          const forwards = await walk(`${list.path}?per_page=${size}`, "next");
          assert.deepEqual(forwards.flatMap(idsOf), list.ids);
          assert.equal(forwards.length, Math.ceil(10 / size));

          const [first, last] = [forwards[0], forwards.at(-1)];
          assert.deepEqual(Object.keys(first?.links ?? {}), ["self", "next"]);
          assert.deepEqual(Object.keys(last?.links ?? {}), ["self", "first", "prev"]);
          for (const page of forwards.slice(1, -1))
            assert.deepEqual(Object.keys(page.links), ["self", "first", "prev", "next"]);
          assert.deepEqual(idsOf(await read(last?.links.first ?? "")), first && idsOf(first));

          const backwards = await walk(last?.links.self ?? "", "prev");
          assert.deepEqual(backwards.reverse().flatMap(idsOf), list.ids);
          for (const page of backwards) assert.ok(page.items.length > 0);
          assert.equal(backwards[0]?.links.prev, undefined);
          assert.ok(backwards[0]?.links.next);
        });
      }

      it("answers 400 to an invalid cursor or page size", async () => {
        const { links } = await read(`${list.path}?per_page=3`);
        const cursor = new URL(links.next ?? "").searchParams.get("after") ?? "";
        const size = "per_page must be a number from 1 to 100";
        const cases: [string, string][] = [
          ...["0", "101", "abc", "", "-1", "1.5", "1e1", "%201", "99999999999999999999"].map(
            (each): [string, string] => [`per_page=${each}`, size],
          ),
          ["per_page=1&per_page=2", size],
          [`after=${cursor}&before=${cursor}`, "after and before cannot be used together"],
          ["after=&before=", "after and before cannot be used together"],
          ...["", "x", "%00", list.ids[0] ?? "", `${cursor}A`, `${cursor}=`, cursor.slice(1)].flatMap(
            (each): [string, string][] => [
              [`after=${each}`, "after is not a cursor of this list"],
              [`before=${each}`, "before is not a cursor of this list"],
            ],
          ),
          [`after=${cursor}&after=${cursor}`, "after is not a cursor of this list"],
        ];
        for (const [query, message] of cases) {
          const answer = await api.send("GET", `${list.path}?${query}`);
          assert.deepEqual([answer.status, answer.body], [400, { message }], query);
        }
      });

      it("is empty beyond its ends", async () => {
        const pages = await walk(`${list.path}?per_page=1`, "next");
        const cursor = (link: string | undefined, name: string) => new URL(link ?? "").searchParams.get(name);
        const newest = cursor(pages[0]?.links.next, "after");
        const oldest = cursor(pages.at(-1)?.links.prev, "before");

        assert.deepEqual(idsOf(await read(`${list.path}?before=${newest}`)), []);
        const beyond = await read(`${list.path}?after=${oldest}`);
        assert.deepEqual([idsOf(beyond), Object.keys(beyond.links)], [[], ["self", "first"]]);
      });
    });
  }

  it("continues after the cursor while items are added, and shows them on the way back", async () => {
    const trigger = await api.newTrigger();
    const path = `${api.triggersAt()}/${trigger.id}/deliveries`;
    const old: string[] = [];
    for (let sent = 0; sent < 6; sent++) old.unshift(await api.deliver(trigger));

    let page = await read(`${path}?per_page=2`);
    const seen = idsOf(page);
    const come: string[] = [];
    while (page.links.next) {
      come.unshift(await api.deliver(trigger));
      page = await read(page.links.next);
      seen.push(...idsOf(page));
    }

    assert.deepEqual(seen, old);
    const back = await walk(page.links.self, "prev");
    assert.deepEqual(back.reverse().flatMap(idsOf), [...come, ...old]);
  });

  it("continues from the cursor of a deleted item", async () => {
    const { slug } = await api.newPipeline();
    const path = api.triggersAt(slug);
    const ids: string[] = [];
    for (let made = 0; made < 4; made++) ids.unshift((await api.newTrigger({}, slug)).id);
    const { links } = await read(`${path}?per_page=2`);

    await api.send("DELETE", `${path}/${ids[1]}`);

    assert.deepEqual(idsOf(await read(links.next ?? "")), ids.slice(2));
  });
});
