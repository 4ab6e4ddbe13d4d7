import type { Cluster } from "../../../shared/clusters/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { requireSecret } from "../../../shared/secrets/secrets.ts";
import type { Secret } from "../../../shared/secrets/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

/** @throws Refusal 404 */
export async function loadSecret(
  services: Services,
  request: MemberRequest,
): Promise<{ cluster: Cluster; secret: Secret }> {
  const cluster = await loadCluster(services, request);
  addCrumbs(request.event, { text: "Secrets", path: clusterPath(request, cluster, patterns.secretsPage) });
  const secret = await requireSecret(services.db, cluster, request.parameter("secret"));
  return { cluster, secret };
}

/** Default: the page of the secret. */
export function secretPath(
  { organization }: Pick<MemberRequest, "organization">,
  { clusterId, id }: Pick<Secret, "clusterId" | "id">,
  pattern: PatternWith<"org" | "cluster" | "secret"> = patterns.secretPage,
): string {
  return pathTo(pattern, { org: organization.slug, cluster: clusterId, secret: id });
}
