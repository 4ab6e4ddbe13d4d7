import assert from "node:assert/strict";
import { it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { eq } from "drizzle-orm";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { environmentOfPipeline } from "../../shared/pipelines/environment.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { openWebhook } from "../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../shared/pipelines/provider/webhook-store.ts";
import { resealSecrets } from "../../shared/sealing/reseal-secrets.ts";
import { environmentOf, secretOf } from "../../shared/triggers/columns.ts";
import { createTrigger, replaceTrigger } from "../../shared/triggers/create.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { openAcme } from "../helpers/organization.ts";

import { secretKey } from "../helpers/world.ts";

const environment = { COLOUR: "red" };
const secret = "signing secret";

describeWorld("stored secrets", openAcme, (world) => {
  const makePipeline = (slug: string) =>
    createPipeline(world.services, world.acme.operator, {
      clusterId: world.acme.cluster.id,
      slug,
      name: slug,
      steps: [{ command: "make" }],
      environment,
    });

  it("of a provider's webhook are sealed again under another key", async () => {
    const { services, acme } = world;
    const given = { clusterId: acme.cluster.id, name: "hooked", steps: [{ command: "make" }] };
    const repository = "https://github.com/acme/app.git";
    const { id } = await createPipeline(services, acme.operator, { ...given, repository });
    const read = async () => {
      const webhook = await findWebhook(services.db, { pipelineId: id });
      assert.ok(webhook);
      return webhook;
    };
    const before = openWebhook(services, await read());
    const next = "the key after, of at least 32 characters";
    const other = createCipher(next, secretKey);
    assert.equal((await resealSecrets({ db: services.db, cipher: other }, () => {})).unreadable, 0);
    const only = createCipher(next);
    assert.deepEqual(openWebhook({ ...services, cipher: only }, await read()), before);
    const elsewhere = { ...(await read()), id: acme.id };
    assert.throws(() => openWebhook({ ...services, cipher: only }, elsewhere), /another place/);
    const back = { db: services.db, cipher: createCipher(secretKey, next) };
    assert.equal((await resealSecrets(back, () => {})).unreadable, 0);
  });

  it("are read where they were copied, and sealed again under another key", async () => {
    const { services } = world;
    const pipeline = await makePipeline("next");
    const input = { label: "Next", type: "github", secret, environment };
    const made = await createTrigger(services, world.acme.operator, pipeline, input);
    const { trigger, token } = await replaceTrigger(services, world.acme.operator, pipeline, made.trigger);
    for (const sealed of [pipeline.environmentSealed, trigger.environmentSealed, trigger.secretSealed])
      assert.match(sealed ?? "", /^v2\./);
    await world.startWorkers();

    const headers = { "X-Hub-Signature-256": await sign(secret, "{}") };
    assert.equal((await post(`${world.url}/deliver/${token}`, "{}", headers)).status, 201);

    const { builds, pipelines, triggers } = services.db.tables;
    const build = await eventually("the build", async () => {
      const [found] = await services.db.select().from(builds);
      return found;
    });
    assert.equal(build.environmentSealed, trigger.environmentSealed);

    const other = createCipher("the next key, of at least 32 characters", secretKey);
    assert.equal((await resealSecrets({ db: services.db, cipher: other }, () => {})).unreadable, 0);
    const only = createCipher("the next key, of at least 32 characters");
    const [row] = await services.db.select().from(triggers).where(eq(triggers.id, trigger.id));
    assert.ok(row);
    assert.deepEqual([environmentOf(only, row), secretOf(only, row)], [environment, secret]);
    const [resealed] = await services.db.select().from(pipelines).where(eq(pipelines.id, pipeline.id));
    assert.ok(resealed);
    assert.deepEqual(environmentOfPipeline(only, resealed), environment);
  });

  it("of a pipeline do not open in another pipeline or column", async () => {
    const { cipher } = world.services;
    const [one, other] = [await makePipeline("one"), await makePipeline("other")];

    assert.deepEqual(environmentOfPipeline(cipher, one), environment);
    assert.deepEqual(environmentOfPipeline(cipher, { ...one, id: other.id }), {});
    assert.throws(() => secretOf(cipher, { secretSealed: one.environmentSealed }), /another place/);
  });
});
