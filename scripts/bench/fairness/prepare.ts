import { auditAll } from "../../../shared/accounts/audit.ts";
import { minuteMs } from "../../../shared/durations.ts";
import { newId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/services/services.ts";
import { addTrigger } from "../../scratch/organization.ts";
import { kilobyte } from "../bodies.ts";
import { addBuilds, type Owner } from "../servers/tenant.ts";
import type { Prepare } from "./tenants.ts";

// Rows that an attack needs besides. They are made before the ingress starts.

const largePipelines = 100;
const manyEntries = 200_000;
const dueSchedules = 20_000;
/** The undisturbed turn ends before. */
const dueInMs = minuteMs;
const entriesAtOnce = 1000;
/** Takes as long as an evaluation may, on 60 KB of x. */
export const slowFilter = 'webhook.payload.a.matches("(x.{900}x.{900}|y.{901}x.{902}|x.{99}y.{999})[pq]$")';

/** Builds whose jobs wait. */
export const builds =
  (count: number): Prepare =>
  async (services, { pipeline }) => {
    await addBuilds(services, pipeline.id, count);
    return "";
  };

/** A trigger with the slow filter. */
export const filteredTrigger: Prepare = async (services, { operator, pipeline }) =>
  (await addTrigger(services, operator, { pipeline, filter: slowFilter })).deliveryUrl;

/** 100 pipelines with 1 MB of steps each. */
export const pipelines: Prepare = async (services, { operator, cluster }) => {
  const steps = Array.from({ length: 100 }, () => ({ command: "x".repeat(9.9 * kilobyte) }));
  for (let number = 1; number <= largePipelines; number++) {
    const name = `large-${number}`;
    await createPipeline(services, operator, { clusterId: cluster.id, slug: name, name, steps });
  }
  return "";
};

/** A trigger whose webhooks become 2,000 jobs. */
export const amplifyingTrigger: Prepare = async (services, owner) => {
  const pipeline = await createAmplifyingPipeline(services, owner);
  return (await addTrigger(services, owner.operator, { pipeline, filter: null })).deliveryUrl;
};

/** A build with 2,000 jobs. */
export const largeBuild: Prepare = async (services, owner) => {
  const { id, slug } = await createAmplifyingPipeline(services, owner);
  await addBuilds(services, id, 1);
  const path = pathTo(patterns.build, { org: owner.organization.slug, slug, number: "1" });
  return `http://127.0.0.1:${services.config.port}${path}`;
};

/** An audit log of 200,000 entries. */
export const auditEntries: Prepare = async ({ db }, { operator, pipeline }) => {
  const subject = { type: "pipeline" as const, id: pipeline.id, name: pipeline.slug };
  const changes = [{ field: "description", before: "a".repeat(100), after: "b".repeat(100) }];
  const acts = Array.from({ length: entriesAtOnce }, () => ({ actor: operator, subject, changes }));
  for (let done = 0; done < manyEntries; done += entriesAtOnce)
    await db.transaction((tx) => auditAll(tx, "updated", acts));
  return "";
};

/** Schedules that come due together. @returns when */
export const schedules: Prepare = async ({ db, clock }, { operator, organization, pipeline }) => {
  const createdAt = clock.now();
  const nextBuildAt = new Date(createdAt.getTime() + dueInMs);
  const schedule = {
    organizationId: organization.id,
    pipelineId: pipeline.id,
    label: null,
    cronline: "@daily",
    message: null,
    commit: "HEAD",
    branch: null,
    environmentSealed: null,
    enabled: true,
    nextBuildAt,
    failedAt: null,
    failedMessage: null,
    createdAt,
    createdById: operator.userId,
  };
  const rows = Array.from({ length: dueSchedules }, () => ({ ...schedule, id: newId(createdAt) }));
  await db.transaction((tx) => tx.insertMany(tx.tables.schedules, rows));
  return nextBuildAt.toISOString();
};

/** 20 steps of 8 KB with 100 jobs each: the largest build of one webhook. */
function createAmplifyingPipeline(services: Services, { operator, cluster }: Owner) {
  const name = "amplified";
  const command = "x".repeat(7.5 * kilobyte);
  const steps = Array.from({ length: 20 }, () => ({ ...defaultStep, command, parallelism: 100 }));
  return createPipeline(services, operator, { clusterId: cluster.id, slug: name, name, steps });
}
