import assert from "node:assert/strict";
import { asc, eq } from "drizzle-orm";
import { findPipelineFacts } from "../../shared/pipelines/store.ts";
import type { GivenSettings } from "../../shared/sources/settings.ts";
import { rebuildDelivery } from "../../shared/triggers/deliveries/rebuild.ts";
import { listTriggersById } from "../../shared/triggers/store.ts";
import { triggerTypes } from "../../shared/triggers/types.ts";
import { findDelivery } from "../helpers/builds.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

/** The repository that payloads name, at any host. */
const repository = "https://git.example.com/acme/app.git";

export type HostWorld = Awaited<ReturnType<typeof openHostWorld>>;
export type Provider = Awaited<ReturnType<HostWorld["provider"]>>;

const eventHeaders = new Map(
  triggerTypes("Linear").map(({ stored, eventHeader }) => [stored as string, eventHeader ?? ""]),
);

/** An installation whose pipelines have providers. */
export async function openHostWorld(database: TestDatabase) {
  const api = await openTriggerApi(database);
  const { db } = api.world.services;
  const { builds, triggers, pipelines, openRequests } = db.tables;

  /** Makes a pipeline with the webhook of a provider of a type of trigger. */
  const provider = async (type: string, settings: GivenSettings = {}, body: object = {}) => {
    const pipeline = await api.newPipeline(body);
    const trigger = await api.newTrigger({ type }, pipeline.slug);
    await db.transaction(async (tx) => {
      await tx.update(triggers).set({ isProvider: true }).where(eq(triggers.id, trigger.id));
      await tx
        .update(pipelines)
        .set({ providerSettings: settings as Record<string, boolean | string>, repository })
        .where(eq(pipelines.id, pipeline.id));
    });
    const post = (event: string, body: unknown) =>
      api.deliver(trigger, typeof body === "string" ? body : JSON.stringify(body), {
        [eventHeaders.get(type) ?? ""]: event,
      });
    return {
      pipeline,
      trigger,
      post,
      /** Posts an event, and decides it. */
      async send(event: string, body: unknown) {
        const id = await post(event, body);
        await api.work(id);
        return id;
      },
      builds: () =>
        db.select().from(builds).where(eq(builds.pipelineId, pipeline.id)).orderBy(asc(builds.number)),
      openRequests: () =>
        db
          .select()
          .from(openRequests)
          .where(eq(openRequests.pipelineId, pipeline.id))
          .orderBy(asc(openRequests.number)),
    };
  };
  return {
    ...api,
    provider,
    /** Builds a delivery again, as a member. */
    async again(
      { pipeline, trigger }: { pipeline: { slug: string }; trigger: { id: string } },
      id: string,
      expected?: number,
    ) {
      const facts = await findPipelineFacts(db, { organizationId: api.acme.id, slug: pipeline.slug });
      const [row] = await db.transaction((tx) => listTriggersById(tx, [trigger.id]));
      const delivery = await findDelivery(api.world, id);
      assert.ok(facts && row && delivery);
      const { services } = api.world;
      const subject = { pipeline: facts, trigger: row, delivery };
      return rebuildDelivery(services, api.acme.operator, subject, expected);
    },
    buildsOf: (deliveryId: string) =>
      db.select().from(builds).where(eq(builds.deliveryId, deliveryId)).orderBy(asc(builds.number)),
    /** The branches and commits of the builds of a delivery, or why there are none. */
    async outcome(deliveryId: string): Promise<string> {
      const delivery = await findDelivery(api.world, deliveryId);
      const built = await this.buildsOf(deliveryId);
      assert.equal(delivery?.status === "build_created", built.length > 0, `${delivery?.status}`);
      if (delivery?.reason)
        return delivery.status === "failed" ? `failed: ${delivery.reason}` : delivery.reason;
      return built.map(({ branch, commit }) => `${branch} at ${commit.slice(0, 7)}`).join(", ");
    },
  };
}
