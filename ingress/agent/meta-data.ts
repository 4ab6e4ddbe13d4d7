import { defineHandler, type H3Event } from "h3";
import { z } from "zod";
import { changeWhileLeased } from "../../shared/agents/lease.ts";
import type { LeaseGroup } from "../../shared/agents/lease-group.ts";
import {
  type Entry,
  type JobPrincipal,
  listMetaDataKeys,
  requireMetaData,
  setMetaData,
} from "../../shared/builds/meta-data.ts";
import type { Services } from "../../shared/process/services.ts";
import { notFound, Refusal, unprocessable } from "../../shared/refusal.ts";
import { canReadWebhookPayload, readWebhookPayload } from "../../shared/triggers/payloads/payloads.ts";
import { findPayloadSize } from "../../shared/triggers/payloads/store.ts";
import { findJobOfCaller } from "../auth/agent.ts";
import type { Bodies } from "../http/body.ts";
import { admitDownload } from "../http/downloads.ts";
import { readJson } from "../http/json-body.ts";
import { limitMetaDataCalls } from "../http/limits.ts";
import { pathParameter } from "../http/routing.ts";
import type { PayloadReads } from "./payload-reads.ts";

export type DataOwner = "job" | "build";

const text = (name: string) => z.string({ error: `${name} must be text` });
export const keyBody = z.object({ key: text("key") });
export const entryBody = z.object({ key: text("key"), value: text("value") });
const maxItems = 1000;
export const batchBody = z.object({
  items: z
    .array(entryBody, { error: "items must be a list of objects with key and value" })
    .max(maxItems, `items can have ${maxItems.toLocaleString("en")} entries at most`),
});

export interface MetaDataParts {
  bodies: Bodies;
  leases: LeaseGroup;
  payloadReads: PayloadReads;
}

/** `/v3/{jobs,builds}/:id/data/…` */
export function metaDataHandlers(
  services: Services,
  { bodies, leases, payloadReads, owner }: MetaDataParts & { owner: DataOwner },
) {
  const payloadKey = `${services.config.serviceName}:webhook`;
  const setAll = (principal: JobPrincipal, entries: Entry[]) => {
    const { build, jobId, agentId, attempt, readOnly } = principal;
    if (readOnly || agentId === null || attempt === null)
      throw new Refusal(403, "This token can only read meta-data");
    const { id: buildId, organizationId } = build;
    const ofJob = { buildId, organizationId, lease: { jobId, agentId, attempt } };
    return setMetaData(services, entries, (change) => changeWhileLeased(leases, ofJob, change));
  };

  return {
    /** POST …/data/get {key} → {key, value}. The webhook's payload is returned byte for byte. */
    get: defineHandler(async (event) => {
      const { jobId, build } = await requireOwner(services, event, owner);
      const { key } = await readJson(
        { event, bodies, organizationId: build.organizationId },
        { schema: keyBody, refuse: unprocessable },
      );
      if (key !== payloadKey) return { key, value: await requireMetaData(services, build.id, key) };

      await payloadReads.admit(event, build.id);
      await admitPayload(services, event, { jobId, build });
      const value = await readWebhookPayload(services, build);
      if (value === undefined)
        throw new Refusal(404, "The build has no webhook payload that can still be read");
      return { key, value };
    }),

    /** POST …/data/set {key, value} */
    set: defineHandler(async (event) => {
      const principal = await requireOwner(services, event, owner);
      const entry = await readJson(
        { event, bodies, organizationId: principal.build.organizationId },
        { schema: entryBody, refuse: unprocessable },
      );
      await setAll(principal, [entry]);
      return { key: entry.key };
    }),

    /** POST …/data/set-batch {items: [{key, value}, …]}. All are set, or none. */
    "set-batch": defineHandler(async (event) => {
      const principal = await requireOwner(services, event, owner);
      const { items } = await readJson(
        { event, bodies, organizationId: principal.build.organizationId },
        { schema: batchBody, refuse: unprocessable },
      );
      await setAll(principal, items);
      return { keys: items.map(({ key }) => key) };
    }),

    /** POST …/data/exists {key} → {exists} */
    exists: defineHandler(async (event) => {
      const { build } = await requireOwner(services, event, owner);
      const { key } = await readJson(
        { event, bodies, organizationId: build.organizationId },
        { schema: keyBody, refuse: unprocessable },
      );
      if (key === payloadKey) return { exists: await canReadWebhookPayload(services, build) };
      return { exists: (await listMetaDataKeys(services, build.id)).includes(key) };
    }),

    /** POST …/data/keys → [key, …] */
    keys: defineHandler(async (event) => {
      const { build } = await requireOwner(services, event, owner);
      const keys = await listMetaDataKeys(services, build.id);
      return (await canReadWebhookPayload(services, build)) ? [...keys, payloadKey] : keys;
    }),
  };
}

/** @throws Refusal 429, 503 */
async function admitPayload(
  { db }: Services,
  event: H3Event,
  { jobId, build }: Pick<JobPrincipal, "jobId" | "build">,
): Promise<void> {
  const bytes = build.deliveryId === null ? 0 : ((await findPayloadSize(db, build.deliveryId)) ?? 0);
  admitDownload(event, { holder: `job ${jobId}`, organizationId: build.organizationId, bytes });
}

/** @throws Refusal 401, 429; 404 for any other job or build than the token's */
async function requireOwner(services: Services, event: H3Event, owner: DataOwner): Promise<JobPrincipal> {
  const principal = await findJobOfCaller(services, event);
  const ownId = owner === "job" ? principal?.jobId : principal?.build.id;
  if (!principal || pathParameter(event, "id") !== ownId) throw notFound(owner);
  await limitMetaDataCalls(services, principal.jobId);
  return principal;
}
