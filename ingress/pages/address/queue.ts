import type { Cluster } from "../../../shared/clusters/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { requireQueue } from "../../../shared/queues/queues.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { loadCluster } from "./cluster.ts";

export interface LoadedQueue {
  cluster: Cluster;
  queue: Queue;
}

/** @throws Refusal 404 */
export async function loadQueue(services: Services, request: MemberRequest): Promise<LoadedQueue> {
  const cluster = await loadCluster(services, request);
  const queue = await requireQueue(services.db, cluster, request.parameter("queue"));
  addCrumbs(request.event, { text: queue.key, path: queuePath(request, queue) });
  return { cluster, queue };
}

/** Default: the page of the queue. */
export function queuePath(
  { organization }: Pick<MemberRequest, "organization">,
  { clusterId, id }: Queue,
  pattern: PatternWith<"org" | "cluster" | "queue"> = patterns.queuePage,
): string {
  return pathTo(pattern, { org: organization.slug, cluster: clusterId, queue: id });
}
