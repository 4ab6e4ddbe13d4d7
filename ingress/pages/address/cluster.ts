import { requireCluster } from "../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

/** @throws Refusal 404 */
export async function loadCluster(
  { db }: Services,
  { organization, parameter, event }: MemberRequest,
): Promise<Cluster> {
  const list = pathTo(patterns.clustersPage, { org: organization.slug });
  addCrumbs(event, { text: "Agents", path: list, isList: true });
  const cluster = await requireCluster(db, organization.id, parameter("cluster"));
  addCrumbs(event, { text: cluster.name, path: clusterPath({ organization }, cluster) });
  return cluster;
}

/** Default: the page of the cluster. */
export function clusterPath(
  { organization }: Pick<MemberRequest, "organization">,
  { id }: Pick<Cluster, "id">,
  pattern: PatternWith<"org" | "cluster"> = patterns.clusterPage,
): string {
  return pathTo(pattern, { org: organization.slug, cluster: id });
}
