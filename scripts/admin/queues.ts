import type { Command } from "commander";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { asOperator, requireOrganization } from "../../shared/accounts/organizations.ts";
import { createCluster } from "../../shared/clusters/clusters.ts";
import { findClusterById, listClusters } from "../../shared/clusters/store.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { listQueues } from "../../shared/queues/store.ts";
import { notFound, validationFailed } from "../../shared/refusal.ts";
import { clusterName, problemsOf, queueKey } from "../../shared/validation.ts";
import { type Act, noun, parseId } from "./command.ts";

export function queueCommands(act: Act): Command[] {
  return [clusterCommand(act), queueCommand(act)];
}

function clusterCommand(act: Act): Command {
  const cluster = noun("cluster", "groups of queues");

  cluster
    .command("create")
    .description("create a cluster")
    .requiredOption("--org <slug>", "the organization's slug")
    .requiredOption("--name <name>", "its name")
    .option("--description <text>", "what it is for")
    .action((options) =>
      act(async (services) => {
        const { name: given, description } = options;
        const problems = problemsOf(clusterName, given, "name");
        if (problems.length > 0) throw validationFailed(...problems);
        const operator = await asOperator(services.db, await requireOrganization(services.db, options.org));
        const { id, name } = await createCluster(services, operator, { name: given, description });
        return { id, name };
      }),
    );

  cluster
    .command("list")
    .description("list the clusters of an organization")
    .requiredOption("--org <slug>", "the organization's slug")
    .action(({ org }) =>
      act(async ({ db }) => {
        const clusters = await listClusters(db, (await requireOrganization(db, org)).id);
        return {
          clusters: clusters.map(({ id, name, defaultQueueId }) => ({
            id,
            name,
            default_queue_id: defaultQueueId,
          })),
        };
      }),
    );
  return cluster;
}

function queueCommand(act: Act): Command {
  const queue = noun("queue", "groups of agents that jobs wait for");

  queue
    .command("create")
    .description("create a self-hosted queue")
    .requiredOption("--cluster <id>", "the cluster's id", parseId)
    .requiredOption("--key <key>", "its name in pipelines and agent tags")
    .option("--description <text>", "what it is for")
    .option("--default", "make it the queue of steps that name none", false)
    .action((options) =>
      act(async (services) => {
        const problems = problemsOf(queueKey, options.key, "key");
        if (problems.length > 0) throw validationFailed(...problems);
        const cluster = await findClusterById(services.db, options.cluster);
        const organization = cluster && (await findOrganizationById(services.db, cluster.organizationId));
        if (!cluster || !organization) throw notFound("cluster");
        const operator = await asOperator(services.db, organization);
        const { id, key } = await createQueue(services, operator, cluster, {
          key: options.key,
          description: options.description,
          isDefault: options.default,
        });
        return { id, key, cluster_id: options.cluster, default: options.default };
      }),
    );

  queue
    .command("list")
    .description("list the queues of a cluster")
    .requiredOption("--cluster <id>", "the cluster's id", parseId)
    .action(({ cluster }) =>
      act(async ({ db }) => ({
        queues: (await listQueues(db, cluster)).map(({ id, key, description, dispatchPausedAt }) => ({
          id,
          key,
          description,
          dispatch_paused: dispatchPausedAt !== null,
        })),
      })),
    );
  return queue;
}
