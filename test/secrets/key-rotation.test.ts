import assert from "node:assert/strict";
import { it } from "node:test";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { resealSecrets } from "../../shared/sealing/reseal-secrets.ts";
import { countUnderOtherKeys } from "../../shared/sealing/secret-key-check.ts";
import { createSecret } from "../../shared/secrets/secrets.ts";
import type { Services } from "../../shared/services/services.ts";
import { countLostSecrets, discardLostSecrets } from "../../shared/triggers/discard-secrets.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { secretKey, startWorld } from "../helpers/world.ts";

const newKey = "the next key, of at least 32 characters";
const plain = { description: null, policy: null };

describeOnBothDatabases("secrets of clusters, when SECRET_KEY changes,", (database) => {
  it("are sealed under the new key", async () => {
    const world = await startWorld(database);
    const { services } = world;
    const acme = await setUpOrganization(world);
    const { id } = await createSecret(services, acme.operator, acme.cluster, {
      key: "DEPLOY_KEY",
      value: "swordfish",
      ...plain,
    });
    const next = { ...services, cipher: createCipher(newKey, secretKey) };
    assert.equal(await countUnderOtherKeys(next), 1);

    assert.deepEqual(await resealSecrets(next, () => {}), { resealed: 1, unreadable: 0 });

    const { secrets } = services.db.tables;
    const [row] = await services.db.select().from(secrets);
    const only = createCipher(newKey);
    assert.equal(only.open(row?.valueSealed ?? "", sealedPlaces.valueOfSecret(id)), "swordfish");
    assert.equal(await countUnderOtherKeys(next), 0);
    await world.close();
  });

  it("are deleted as the Operator if the key is lost, and others stay", async () => {
    const world = await startWorld(database);
    const { services } = world;
    const acme = await setUpOrganization(world);
    const lost: Services = {
      ...services,
      cipher: createCipher("a key that is lost since, of 32 characters"),
    };
    await createSecret(lost, acme.operator, acme.cluster, { key: "LOST", value: "x", ...plain });
    await createSecret(services, acme.operator, acme.cluster, { key: "KEPT", value: "x", ...plain });

    assert.equal((await countLostSecrets(services))["secrets.valueSealed"], 1);
    assert.equal((await discardLostSecrets(services))["secrets.valueSealed"], 1);

    const { secrets, auditEvents } = services.db.tables;
    assert.deepEqual(
      (await services.db.select().from(secrets)).map(({ key }) => key),
      ["KEPT"],
    );
    const events = await services.db.select().from(auditEvents);
    const [discarded] = events.filter(({ action }) => action.startsWith("discarded"));
    assert.deepEqual(
      [discarded?.action, discarded?.subjectType, discarded?.subject],
      ["discarded the lost value of, and deleted,", "secret", "LOST"],
    );
    await world.close();
  });

  it("do not open in another secret", async () => {
    const world = await startWorld(database);
    const acme = await setUpOrganization(world);
    const { services } = world;
    const { cipher } = services;
    const made = await createSecret(services, acme.operator, acme.cluster, {
      key: "A",
      value: "x",
      ...plain,
    });
    const other = await createSecret(services, acme.operator, acme.cluster, {
      key: "B",
      value: "y",
      ...plain,
    });

    assert.equal(cipher.open(made.valueSealed, sealedPlaces.valueOfSecret(made.id)), "x");
    assert.throws(() => cipher.open(made.valueSealed, sealedPlaces.valueOfSecret(other.id)), /another place/);
    await world.close();
  });
});
