// For drizzle-kit: it reads named exports.
import { kits } from "./columns.ts";
import { defineSchema } from "./schema.ts";

export const {
  settings,
  organizations,
  users,
  members,
  sessions,
  applications,
  grants,
  refreshTokens,
  deviceCodes,
  accessTokens,
  clusters,
  queues,
  pipelines,
  triggers,
  filterMisses,
  deliveries,
  payloads,
  payloadTotals,
  refusedDeliveries,
  idempotencyKeys,
  builds,
  jobs,
  metaData,
  jobTokens,
  auditEvents,
} = defineSchema(kits.sqlite);
