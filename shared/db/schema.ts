import type { Kit } from "./columns.ts";
import { defineAccountsTables } from "./schema/accounts.ts";
import { defineAgentsTables } from "./schema/agents.ts";
import { defineAnnotationsTables } from "./schema/annotations.ts";
import { defineArtifactsTables } from "./schema/artifacts.ts";
import { defineBuildsTables } from "./schema/builds.ts";
import { defineBulkRebuildsTables } from "./schema/bulk-rebuilds.ts";
import { defineClustersTables } from "./schema/clusters.ts";
import { defineDeviceTables } from "./schema/device.ts";
import { defineFiguresTables } from "./schema/figures.ts";
import { defineNewsTables } from "./schema/news.ts";
import { defineOauthTables } from "./schema/oauth.ts";
import { definePipelinesTables } from "./schema/pipelines.ts";
import { defineQueuesTables } from "./schema/queues.ts";
import { defineSchedulesTables } from "./schema/schedules.ts";
import { defineSecretsTables } from "./schema/secrets.ts";
import { defineSettingsTables } from "./schema/settings.ts";
import { defineSourcesTables } from "./schema/sources.ts";
import { defineStacksTables } from "./schema/stacks.ts";
import { defineTasksTables } from "./schema/tasks.ts";
import { defineTriggersTables } from "./schema/triggers.ts";

/**
 * UUIDv7 ids sort by age and put new rows on shared pages. Timestamps imply states: `dispatchPausedAt` means paused.
 */
export function defineSchema(kit: Kit) {
  const settings = defineSettingsTables(kit);
  const figures = defineFiguresTables(kit);
  const tasks = defineTasksTables(kit);
  const accounts = defineAccountsTables(kit);
  const oauth = defineOauthTables(kit, accounts);
  const device = defineDeviceTables(kit, { ...accounts, ...oauth });
  const clusters = defineClustersTables(kit, accounts);
  const queues = defineQueuesTables(kit, { ...accounts, ...clusters });
  const pipelines = definePipelinesTables(kit, { ...accounts, ...clusters });
  const triggers = defineTriggersTables(kit, { ...accounts, ...pipelines });
  const sources = defineSourcesTables(kit, { ...accounts, ...pipelines });
  const schedules = defineSchedulesTables(kit, { ...accounts, ...pipelines });
  const news = defineNewsTables(kit, accounts);
  const bulkRebuilds = defineBulkRebuildsTables(kit, { ...accounts, ...triggers });
  const builds = defineBuildsTables(kit, { ...accounts, ...queues, ...pipelines, ...triggers });
  const agents = defineAgentsTables(kit, { ...accounts, ...clusters, ...queues, ...builds });
  const stacks = defineStacksTables(kit, { ...accounts, ...clusters, ...queues, ...builds });
  const artifacts = defineArtifactsTables(kit, { ...accounts, ...builds });
  const annotations = defineAnnotationsTables(kit, builds);
  const secrets = defineSecretsTables(kit, { ...accounts, ...clusters });
  return {
    ...settings,
    ...figures,
    ...tasks,
    ...accounts,
    ...oauth,
    ...device,
    ...clusters,
    ...queues,
    ...pipelines,
    ...triggers,
    ...sources,
    ...schedules,
    ...news,
    ...bulkRebuilds,
    ...builds,
    ...agents,
    ...stacks,
    ...artifacts,
    ...annotations,
    ...secrets,
  };
}

export type Tables = ReturnType<typeof defineSchema>;
