import type { Command } from "commander";
import { asOperator } from "../../../shared/accounts/organizations.ts";
import { createCluster, deleteCluster } from "../../../shared/clusters/clusters.ts";
import { clusterMembers, newCluster } from "../../../shared/clusters/members.ts";
import { listClusters } from "../../../shared/clusters/store.ts";
import { type Act, givenMembers, newCommand, orgOption, requireValid, withMembers } from "../command.ts";
import { namedCluster, namedOrganization, withCluster } from "../find.ts";

export function clusterCommands(act: Act): Command[] {
  const cluster = newCommand("cluster", "groups of queues");

  withMembers(cluster.command("create").requiredOption(...orgOption), clusterMembers, "create")
    .description("create a cluster")
    .action((options) =>
      act(async (services) => {
        const input = requireValid(newCluster, givenMembers(clusterMembers, "create", options));
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
