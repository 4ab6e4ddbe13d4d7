import assert from "node:assert/strict";
import { afterEach, beforeEach, it } from "node:test";
import { decodeProtectedHeader } from "jose";
import { hourMs, minuteMs } from "../../shared/durations.ts";
import { openSigningKeys } from "../../shared/identity/keys.ts";
import { retiredSigningKeys, rotateSigningKeys } from "../../shared/identity/rotation.ts";
import { openServices } from "../../shared/services/services.ts";
import { enterJob } from "../agents/inside/in-a-job.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { secretKey } from "../helpers/world.ts";
import { operatorOf, runOperator } from "../scripts/operator.ts";
import { askForToken, shownKeys, verify } from "./in-a-job.ts";

describeOnBothDatabases("the keys of identity tokens", (database) => {
  let api: Api;

  beforeEach(async () => {
    api = await openApi(database);
  });
  afterEach(() => api.close());

  const enter = () => enterJob(api, { command: "deploy" });
  const shown = () => shownKeys(api.world.url);
  const tokenOf = async (inside: Awaited<ReturnType<typeof enter>>, lifetime = 300): Promise<string> =>
    (await askForToken(inside, { lifetime })).body.token;
  const signerOf = (token: string) => decodeProtectedHeader(token).kid;
  const rows = () => api.world.services.db.select().from(api.world.services.db.tables.signingKeys);
  const rotate = (isLeaked = false) => rotateSigningKeys(api.world.services, { isLeaked });

  it("are one, however many processes use them first at once", async () => {
    const { services } = api.world;
    const processes = Array.from({ length: 4 }, () => openSigningKeys(services));
    const keys = await Promise.all(processes.map((each) => each.current()));
    assert.equal(new Set(keys.map(({ id }) => id)).size, 1);
    assert.equal((await rows()).length, 1);
  });

  it("change with an overlap: a new key is shown for an hour before it signs, the old one for three after", async () => {
    const inside = await enter();
    const [first] = await shown();

    await rotate();
    api.world.clock.advance(minuteMs);
    const [second, ...others] = await shown();
    const before = await tokenOf(inside, 7200);
    api.world.clock.advance(hourMs);
    const after = await tokenOf(inside);

    assert.deepEqual(others, [first]);
    assert.deepEqual([signerOf(before), signerOf(after)], [first, second]);
    await verify(api.world, before);
    await verify(api.world, after);
    api.world.clock.advance(hourMs + 50 * minuteMs);
    assert.deepEqual(await shown(), [second, first]);
    api.world.clock.advance(70 * minuteMs);
    assert.deepEqual(await shown(), [second]);
  });

  it("are deleted once they are shown no longer", async () => {
    await shown();
    await rotate();
    assert.equal(await retiredSigningKeys.purge(api.world.services), 0);
    api.world.clock.advance(4 * hourMs + minuteMs);
    assert.equal(await retiredSigningKeys.purge(api.world.services), 1);
    assert.deepEqual(
      (await rows()).map(({ id }) => id),
      await shown(),
    );
  });

  it("are not rotated again before the newest one signs; of rotations at once, one rotates", async () => {
    await shown();
    const outcomes = await Promise.allSettled([rotate(), rotate(), rotate()]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
    await assert.rejects(rotate(), { status: 422 });
    assert.equal((await rows()).length, 2);
    api.world.clock.advance(hourMs);
    await rotate();
    assert.equal((await rows()).length, 3);
  });

  it("that leaked are worth nothing half a minute after the operator's command, nor are their tokens", async () => {
    const inside = await enter();
    const stolen = await tokenOf(inside, 7200);
    const leaked = await shown();

    const { keys } = await operatorOf(api.world).admin("signing-keys rotate --leaked");
    api.world.clock.advance(minuteMs / 2);

    assert.deepEqual(
      Object.keys(keys[0]),
      ["id", "created_at", "active_at", "retires_at"],
      "nothing private",
    );
    assert.deepEqual(await shown(), [keys[0].id]);
    assert.notDeepEqual(await shown(), leaked);
    await assert.rejects(verify(api.world, stolen), { code: "ERR_JWKS_NO_MATCHING_KEY" });
    await verify(api.world, await tokenOf(inside));
  });

  it("are stored sealed, and sign again once they are resealed under another SECRET_KEY", async () => {
    const inside = await enter();
    const token = await tokenOf(inside);
    const [row] = await rows();
    assert.match(row?.privateKeySealed ?? "", /^v2\./);
    const newKey = "the next key, of at least 32 characters";
    const { config, services, clock } = api.world;
    const env = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: secretKey };

    const { stdout } = await runOperator(api.world, ["secrets", "reseal"], { env });

    assert.equal(JSON.parse(stdout).resealed, 1);
    const next = openServices({ config: { ...config, secretKey: newKey }, log: services.log, clock });
    assert.equal((await openSigningKeys(next).current()).id, signerOf(token));
    await next.close();
  });

  it("of a lost SECRET_KEY are discarded, and a new one signs", async () => {
    const inside = await enter();
    const former = signerOf(await tokenOf(inside));
    const env = { SECRET_KEY: "another key, of at least 32 characters" };

    const { stdout } = await runOperator(api.world, ["secrets", "discard", "--key-is-lost"], { env });
    api.world.clock.advance(minuteMs / 2);

    assert.equal(JSON.parse(stdout).signing_keys, 1);
    const present = signerOf(await tokenOf(inside));
    assert.notEqual(present, former);
    assert.deepEqual(await shown(), [present]);
  });
});
