import type { Cluster } from "../../../shared/clusters/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { requireQueue } from "../../../shared/queues/queues.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { clusterOf } from "../clusters/show.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

/** The queue that a request is about, and where it is. */
export interface QueueAt {
  cluster: Cluster;
  queue: Queue;
}

/** @throws Refusal 404 */
export async function queueOf(services: Services, request: MemberRequest): Promise<QueueAt> {
  const cluster = await clusterOf(services, request);
  return { cluster, queue: await requireQueue(services.db, cluster, request.parameter("queue")) };
}

/** The queue's page, or another one of its addresses. */
export function pathOf(
  { organization }: Pick<MemberRequest, "organization">,
  { clusterId, id }: Queue,
  pattern: PatternWith<"org" | "cluster" | "queue"> = patterns.queuePage,
): string {
  return pathTo(pattern, { org: organization.slug, cluster: clusterId, queue: id });
}
