import type { H3Event } from "h3";
import { z } from "zod";
import { attemptOf, changeWhileLeased } from "../../shared/agents/lease.ts";
import type { LeaseBatches } from "../../shared/agents/lease-batches.ts";
import {
  type Entry,
  hasMetaData,
  listMetaDataKeys,
  requireMetaData,
  setMetaData,
} from "../../shared/builds/meta-data/meta-data.ts";
import { listOf } from "../../shared/collections.ts";
import { patterns } from "../../shared/paths.ts";
import { Refusal, unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { canReadWebhookPayload, readWebhookPayload } from "../../shared/triggers/payloads/payloads.ts";
import { findPayloadSize } from "../../shared/triggers/payloads/store.ts";
import type { DataCaller } from "../auth/callers.ts";
import { admitDownload } from "../http/downloads.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { answer, tag } from "./answers.ts";
import type { PayloadReads } from "./payload-reads.ts";

const text = (name: string) => z.string({ error: `${name} must be text` });
const key = z.object({ key: text("key") });
/** Agents leave an empty value out. */
const value = z
  .union([z.string(), z.number().transform(String), z.boolean().transform(String)], "value must be text")
  .nullish()
  .transform((given) => given ?? "");
const entry = z.object({ key: text("key"), value });
const maxItems = 1000;
const batch = z.object({
  items: listOf(entry, {
    error: "items must be a list of objects with key and value",
    max: maxItems,
    tooMany: `items can have ${maxItems.toLocaleString("en")} entries at most`,
  }),
});
const keys = z.array(z.string());

const owners = [
  { owner: "Job", caller: "dataOfJob", base: patterns.jobData },
  { owner: "Build", caller: "dataOfBuild", base: patterns.buildData },
] as const;

interface Parts {
  leases: LeaseBatches;
  payloadReads: PayloadReads;
}

/** The calls for a build's meta-data, below its job and below itself. */
export function metaDataOperations(services: Services, parts: Parts): Operation[] {
  return owners.flatMap((owner) => operationsOf(services, parts, owner));
}

function operationsOf(
  services: Services,
  { leases, payloadReads }: Parts,
  { owner, caller, base }: (typeof owners)[number],
): Operation[] {
  const payloadKey = `${services.config.serviceName}:webhook`;
  const by = `, by ${owner.toLowerCase()}`;
  const common = { tag, caller, methods: ["POST" as const] };
  const setting = { ...common, refusals: { 403: ["The token may only read"] } };

  return [
    operation({
      ...common,
      path: `${base}/get`,
      id: `getDataOf${owner}`,
      summary: `Read a value of the build's meta-data${by}`,
      description: `The key \`${payloadKey}\` reads the payload of the delivery that made the build, byte for byte.`,
      body: { schema: key, refuse: unprocessable },
      success: answer(entry, "The value"),
      refusals: { 404: ["no such key"] },
      run: async ({ jobId, build, event, readBody }) => {
        const { key } = await readBody();
        if (key !== payloadKey) return { key, value: await requireMetaData(services, build.id, key) };

        await payloadReads.admit(event, build);
        await admitPayload(services, event, { jobId, build });
        const value = await readWebhookPayload(services, build);
        if (value === undefined)
          throw new Refusal(404, "The build has no webhook payload that can still be read");
        return { key, value };
      },
    }),
    operation({
      ...setting,
      path: `${base}/set`,
      id: `setDataOf${owner}`,
      summary: `Set a value of the build's meta-data${by}`,
      description: "Values have at most 100 KB, keys at most 1,024 bytes.",
      body: { schema: entry, refuse: unprocessable },
      success: answer(key, "The value is set"),
      run: async (call) => {
        const entry = await call.readBody();
        await setAll(services, leases, call, [entry]);
        return { key: entry.key };
      },
    }),
    operation({
      ...setting,
      path: `${base}/set-batch`,
      id: `setBatchDataOf${owner}`,
      summary: `Set several values of the build's meta-data, all or none${by}`,
      body: { schema: batch, refuse: unprocessable },
      success: answer(z.object({ keys }), "The values are set"),
      run: async (call) => {
        const { items } = await call.readBody();
        await setAll(services, leases, call, items);
        return { keys: items.map(({ key }) => key) };
      },
    }),
    operation({
      ...common,
      path: `${base}/exists`,
      id: `existsDataOf${owner}`,
      summary: `Check whether a key has a value${by}`,
      body: { schema: key, refuse: unprocessable },
      success: answer(z.object({ exists: z.boolean() }), "The answer"),
      run: async ({ build, readBody }) => {
        const { key } = await readBody();
        if (key === payloadKey) return { exists: await canReadWebhookPayload(services, build) };
        return { exists: await hasMetaData(services, build.id, key) };
      },
    }),
    operation({
      ...common,
      path: `${base}/keys`,
      id: `keysDataOf${owner}`,
      summary: `List the keys${by}`,
      success: answer(keys, "The keys"),
      run: async ({ build }) => {
        const keys = await listMetaDataKeys(services, build.id);
        return (await canReadWebhookPayload(services, build)) ? [...keys, payloadKey] : keys;
      },
    }),
  ];
}

/** @throws Refusal 403, 404, 422 */
async function setAll(
  services: Services,
  leases: LeaseBatches,
  { build, lease }: DataCaller,
  entries: Entry[],
): Promise<void> {
  if (!lease) throw new Refusal(403, "This token can only read meta-data");
  const attempt = attemptOf(build, lease);
  await setMetaData(services, entries, (change) => changeWhileLeased(leases, attempt, change));
}

/** @throws Refusal 429, 503 */
async function admitPayload(
  { db }: Services,
  event: H3Event,
  { jobId, build }: Pick<DataCaller, "jobId" | "build">,
): Promise<void> {
  const bytes = build.deliveryId === null ? 0 : ((await findPayloadSize(db, build.deliveryId)) ?? 0);
  admitDownload(event, { holder: `job ${jobId}`, organizationId: build.organizationId, bytes });
}
