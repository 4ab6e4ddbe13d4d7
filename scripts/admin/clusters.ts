import type { Command } from "commander";
import { asOperator } from "../../shared/accounts/organizations.ts";
import { createCluster, deleteCluster } from "../../shared/clusters/clusters.ts";
import { newCluster } from "../../shared/clusters/input.ts";
import { listClusters } from "../../shared/clusters/store.ts";
import { type Act, newCommand, orgOption, requireValid } from "./command.ts";
import { namedCluster, namedOrganization, withCluster } from "./find.ts";

export function clusterCommands(act: Act): Command[] {
  const cluster = newCommand("cluster", "groups of queues");

  cluster
    .command("create")
    .description("create a cluster")
    .requiredOption(...orgOption)
    .requiredOption("--name <name>", "its name")
    .option("--description <text>", "its purpose")
    .action((options) =>
      act(async (services) => {
        const input = requireValid(newCluster, { name: options.name, description: options.description });
        const operator = await asOperator(services.db, await namedOrganization(services.db, options.org));
        const { id, name } = await createCluster(services, operator, input);
        return { id, name };
      }),
    );

  withCluster(cluster.command("delete"))
    .description("delete a cluster without pipelines or unfinished jobs")
    .action((options) =>
      act(async (services) => {
        const found = await namedCluster(services.db, options);
        await deleteCluster(services, found.operator, found.cluster);
        return { id: found.cluster.id, name: found.cluster.name, deleted: true };
      }),
    );

  cluster
    .command("list")
    .description("list the clusters of an organization")
    .requiredOption(...orgOption)
    .action(({ org }) =>
      act(async ({ db }) => {
        const clusters = await listClusters(db, (await namedOrganization(db, org)).id);
        return {
          clusters: clusters.map(({ id, name, defaultQueueId }) => ({
            id,
            name,
            default_queue_id: defaultQueueId,
          })),
        };
      }),
    );
  return [cluster];
}
