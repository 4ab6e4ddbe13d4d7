import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seeOwner } from "../../shared/sharing/presence.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

const megabyte = 1024 * 1024;

describe("large JSON bodies of one organization at once", () => {
  it("are parsed one by one, with rests in which others come", async () => {
    const world = await startWorld(sqlite);
    const requests = async (slug: string) => {
      const organization = await setUpOrganization(world, slug);
      const token = await organization.token("write_pipelines");
      const members = Array.from({ length: 19_000 }, (_, index) => `"key${index}":1`);
      return (body = `{${members.join(",")}}`) =>
        fetch(`${world.url}/v2/organizations/${slug}/pipelines`, {
          method: "POST",
          headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
          body,
        });
    };
    const [attack, create] = [await requests("attacker"), await requests("victim")];
    let answered = 0;
    const attacked = Array.from({ length: 12 }, async () => {
      const { status } = await attack();
      answered++;
      return status;
    });

    await Promise.race(attacked);
    const isThere = setInterval(() => seeOwner("another organization"), 5); // also while a busy machine delays the victim
    assert.equal((await create()).status, 422);
    assert.equal((await create("{}")).status, 422);
    clearInterval(isThere);

    assert.ok(answered < 12, "the victim did not wait for all the others");
    assert.deepEqual(new Set(await Promise.all(attacked)), new Set([422]));
    await world.close();
  });
});

describeWorldOn(sqlite, "deep JSON, and JSON of many values", openApi, (api) => {
  const nested = (depth: number) => `{"name":"Deep","extra":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const create = (raw: string) =>
    api.send("POST", "/pipelines", { raw, headers: { "Content-Type": "application/json" } });

  it("is refused with 400 before it is parsed, closed or not", async () => {
    for (const raw of [nested(100), nested(400_000), "[".repeat(megabyte - 1), '{"a":'.repeat(200_000)]) {
      const answer = await create(raw);
      assert.equal(answer.status, 400, answer.text.slice(0, 200));
      assert.deepEqual(answer.body, { message: "Body is nested too deeply" });
    }
  });

  it("is read up to a depth of 100", async () => {
    assert.equal((await create(nested(99))).status, 422);
  });

  it("is refused with 400 above 20,000 values, however small", async () => {
    const list = (values: number) => `{"name":"Many","extra":[${Array(values).fill(1)}]}`;
    assert.equal((await create(list(19_997))).status, 422);

    const answer = await create(list(19_998));
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body, {
      message: "Body has more than 20,000 values, the most that a request may have",
    });
  });

  it("is one kind of wrong JSON among others", async () => {
    for (const raw of ["{".padEnd(200, " "), `{"a":${"1".padStart(150, " ")}]`]) {
      assert.deepEqual((await create(raw)).body, { message: "Body is not valid JSON" });
    }
  });
});
