import assert from "node:assert/strict";
import { it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { startIngress } from "../../ingress/server.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { openEnvironment, sealEnvironment } from "../../shared/pipelines/environment.ts";
import { resealSecrets } from "../../shared/sealing/reseal-secrets.ts";
import {
  checkSecretKey,
  countUnderOtherKeys,
  WrongSecretKey,
} from "../../shared/sealing/secret-key-check.ts";
import { openServices, type Services } from "../../shared/services/services.ts";
import { allBuilds, buildWebhook } from "../helpers/builds.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { post, request } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { secretKey as oldKey, startWorld, type World } from "../helpers/world.ts";
import { runOperator } from "../scripts/operator.ts";

const newKey = "the next key, of at least 32 characters";
const environment = { COLOUR: "red" };
const secret = "signing secret";

type Keys = [current: string, previous?: string];

/** Services of a process of this installation that has other keys. */
function servicesWith({ config, services, clock }: World, [secretKey, previousSecretKey]: Keys): Services {
  return openServices({ config: { ...config, secretKey, previousSecretKey }, log: services.log, clock });
}

async function withKeys<T>(world: World, keys: Keys, work: (services: Services) => Promise<T>): Promise<T> {
  const services = servicesWith(world, keys);
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

async function reseal(world: World, [SECRET_KEY, previous]: Keys, isWatched = false) {
  const env = { SECRET_KEY, ...(previous && { SECRET_KEY_PREVIOUS: previous }) };
  const { stdout, stderr } = await runOperator(world, ["secrets", "reseal"], { env, isWatched });
  return { printed: stdout && JSON.parse(stdout), stderr };
}

/** Stores variables as if a job of the only build had uploaded them. */
async function uploadVariables({ services: { db, cipher } }: World): Promise<void> {
  const uploadedEnvironmentSealed = sealEnvironment(cipher, environment, sealedPlaces.variablesOfBuilds);
  await db.transaction((tx) => tx.update(db.tables.builds).set({ uploadedEnvironmentSealed }));
}

/** Copies a trigger under other ids. */
async function copyTrigger({ services }: World, trigger: { id: string }, copies: number): Promise<void> {
  const { triggers } = services.db.tables;
  const [row] = (await services.db.select().from(triggers)).filter(({ id }) => id === trigger.id);
  assert.ok(row);
  const idOf = (index: number) => `01900000-0000-7000-8000-${String(index).padStart(12, "0")}`;
  const rows = Array.from({ length: copies }, (_, index) => ({
    ...row,
    id: idOf(index),
    tokenHash: `copy ${index}`,
  }));
  await services.db.transaction((tx) => tx.insertMany(triggers, rows));
}

describeOnBothDatabases("a change of SECRET_KEY", (database) => {
  it("is resealed by the operator's command, builds included, before the former key can go", async () => {
    const world = await startWorld(database);
    await checkSecretKey(world.services);
    const acme = await setUpOrganization(world);
    const trigger = await acme.trigger({ environment });
    await acme.trigger({ type: "github", secret });
    await buildWebhook(world, trigger.path, "{}");
    await uploadVariables(world);

    await withKeys(world, [newKey, oldKey], checkSecretKey);
    assert.match(world.logged.join(""), /"sealedUnderOtherKeys":4/);
    await assert.rejects(withKeys(world, [newKey], checkSecretKey), (error: Error) => {
      assert.ok(error instanceof WrongSecretKey);
      assert.match(error.message, /^Stored secrets that need another key: 4\. .*SECRET_KEY_PREVIOUS/);
      return true;
    });
    const first = await reseal(world, [newKey, oldKey], true);
    const second = await reseal(world, [newKey, oldKey]);

    assert.deepEqual(first.printed, { resealed: 4, unreadable: 0, sealed_under_other_keys: 0 });
    assert.match(first.stderr, /4 resealed\n$/);
    assert.deepEqual(second, {
      printed: { resealed: 0, unreadable: 0, sealed_under_other_keys: 0 },
      stderr: "",
    });
    await withKeys(world, [newKey], async (services) => {
      assert.ok(await checkSecretKey(services));
      const [build] = await allBuilds(world);
      for (const sealed of [build?.environmentSealed, build?.uploadedEnvironmentSealed])
        assert.deepEqual(
          openEnvironment(services.cipher, sealed ?? null, sealedPlaces.variablesOfBuilds),
          environment,
        );
    });
    await world.close();
  });

  it("is counted on /readyz up to 1,000, and resealed in batches that may be interrupted", async () => {
    const world = await startWorld(database);
    const acme = await setUpOrganization(world);
    await copyTrigger(world, await acme.trigger({ environment, type: "github", secret }), 700);

    const result = await withKeys(world, [newKey, oldKey], async (services) => {
      const ingress = await startIngress(services);
      const { body, status } = await request(`${ingress.url}/readyz`);
      assert.deepEqual([status, body.status, body.sealed_under_other_keys], [200, "ok", 1000]);
      const interrupted = resealSecrets(services, (count) => {
        if (count >= 400) throw new Error("interrupted");
      });
      await assert.rejects(interrupted, /interrupted/);
      const resealed = await resealSecrets(services, () => {});
      assert.equal((await request(`${ingress.url}/readyz`)).body.sealed_under_other_keys, undefined);
      await ingress.close();
      return resealed;
    });

    assert.deepEqual(result, { resealed: 1002, unreadable: 0 });
    await world.close();
  });

  it("leaves texts that no key opens", async () => {
    const world = await startWorld(database);
    await withKeys(world, ["a key that is lost since, of 32 characters"], async (services) => {
      await (await setUpOrganization({ services }, "lost")).trigger({ environment });
    });

    const resealed = await resealSecrets(world.services, () => {});

    assert.deepEqual(resealed, { resealed: 0, unreadable: 1 });
    await world.close();
  });

  it("loses nothing while processes are restarted one by one", async () => {
    const world = await startWorld(database);
    const before: Keys = [oldKey];
    const prepared: Keys = [oldKey, newKey];
    const swapped: Keys = [newKey, oldKey];
    const after: Keys = [newKey];
    const steps: [Keys, Keys][] = [
      [before, before],
      [prepared, before],
      [prepared, prepared],
      [swapped, prepared],
      [swapped, swapped],
    ];
    const paths: string[] = [];

    for (const keys of steps) await useProcesses(world, keys, paths);
    await reseal(world, swapped);
    for (const keys of [
      [after, swapped],
      [after, after],
    ] as [Keys, Keys][])
      await useProcesses(world, keys, paths);

    await withKeys(world, after, async (services) => assert.equal(await countUnderOtherKeys(services), 0));
    await world.close();
  });
});

/** Starts two processes. Each makes a trigger, and both verify deliveries of every trigger so far. */
async function useProcesses(world: World, processes: [Keys, Keys], paths: string[]): Promise<void> {
  const all = processes.map((keys) => servicesWith(world, keys));
  const ingresses = await Promise.all(all.map(startIngress));
  for (const services of all) {
    assert.ok(await checkSecretKey(services));
    const organization = await setUpOrganization({ services }, `acme-${paths.length}`);
    paths.push((await organization.trigger({ type: "github", secret, environment })).path);
  }
  for (const path of paths) {
    for (const { url } of ingresses) {
      const headers = { "X-Hub-Signature-256": await sign(secret, "{}") };
      assert.equal((await post(url + path, "{}", headers)).status, 201);
    }
  }
  for (const ingress of ingresses) await ingress.close();
  for (const services of all) {
    const { triggers } = services.db.tables;
    for (const row of await services.db.select().from(triggers))
      assert.deepEqual(
        openEnvironment(services.cipher, row.environmentSealed, sealedPlaces.variablesOfBuilds),
        environment,
      );
    await services.close();
  }
}
