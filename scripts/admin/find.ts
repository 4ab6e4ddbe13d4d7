import type { Command } from "commander";
import type { Actor } from "../../shared/accounts/audit.ts";
import {
  findOrganization,
  findOrganizationById,
  type Organization,
} from "../../shared/accounts/organization-store.ts";
import { asOperator } from "../../shared/accounts/organizations.ts";
import { type Cluster, findClusterById, findClusterByName } from "../../shared/clusters/store.ts";
import type { Db } from "../../shared/db/database.ts";
import { isId } from "../../shared/ids.ts";
import { findPipeline, type Pipeline } from "../../shared/pipelines/store.ts";
import { findQueue, findQueueByKey, type Queue } from "../../shared/queues/store.ts";
import { Refusal } from "../../shared/refusal.ts";
import { findTriggerWithOwners } from "../../shared/triggers/store.ts";

// Finds the things that options name. A refusal repeats the name, so that a typing error is seen.

export interface ClusterOptions {
  org?: string;
  cluster: string;
}

export interface QueueOptions extends ClusterOptions {
  queue: string;
}

/** A cluster's id is enough; its name needs the organization. */
export function withCluster(command: Command): Command {
  return command
    .option("--org <slug>", "the organization's slug; not needed with a cluster's id")
    .requiredOption("--cluster <name>", "the cluster's name, or its id");
}

export function withQueue(command: Command): Command {
  return withCluster(command).requiredOption("--queue <key>", "the queue's key, or its id");
}

/** @throws Refusal 404 */
export async function namedOrganization(db: Db, slug: string): Promise<Organization> {
  const found = await findOrganization(db, slug);
  if (!found) throw noneFound("organization", slug);
  return found;
}

/** @throws Refusal 404 */
export async function namedPipeline(
  db: Db,
  options: { org: string; pipeline: string },
): Promise<{ organization: Organization; pipeline: Pipeline }> {
  const organization = await namedOrganization(db, options.org);
  const pipeline = await findPipeline(db, { organizationId: organization.id, slug: options.pipeline });
  if (!pipeline) throw noneFound("pipeline", options.pipeline, organization.slug);
  return { organization, pipeline };
}

/** @throws Refusal 404, 422 */
export async function namedCluster(
  db: Db,
  { org, cluster: name }: ClusterOptions,
): Promise<{ operator: Actor; cluster: Cluster }> {
  const within = org === undefined ? undefined : await namedOrganization(db, org);
  if (!within && !isId(name.toLowerCase()))
    throw new Refusal(422, `"${name}" is not an id: add --org <slug>, or give the cluster's id`);

  const byName = within && (await findClusterByName(db, within.id, name));
  const cluster =
    byName ?? (isId(name.toLowerCase()) ? await findClusterById(db, name.toLowerCase()) : undefined);
  const owner = cluster && (await findOrganizationById(db, cluster.organizationId));
  if (!cluster || !owner || (within && within.id !== owner.id)) throw noneFound("cluster", name, org);
  return { operator: await asOperator(db, owner), cluster };
}

/** @throws Refusal 404, 422 */
export async function namedQueue(
  db: Db,
  options: QueueOptions,
): Promise<{ operator: Actor; cluster: Cluster; queue: Queue }> {
  const found = await namedCluster(db, options);
  const { id, name } = found.cluster;
  const queue =
    (await findQueueByKey(db, id, options.queue)) ??
    (isId(options.queue.toLowerCase()) ? await findQueue(db, id, options.queue.toLowerCase()) : undefined);
  if (!queue) throw noneFound("queue", options.queue, `cluster ${name}`);
  return { ...found, queue };
}

/** @throws Refusal 404 */
export async function namedTrigger(db: Db, id: string) {
  const found = await findTriggerWithOwners(db, id);
  if (!found) throw noneFound("trigger", id);
  return { ...found, actor: await asOperator(db, found.organization) };
}

/** Returns a refusal with 404. */
export function noneFound(thing: string, name: string | number, within?: string): Refusal {
  return new Refusal(404, `No ${thing} "${name}" found${within === undefined ? "" : ` in ${within}`}`);
}
