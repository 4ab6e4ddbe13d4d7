import type { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { listPipelineNamesById } from "../../../shared/pipelines/store.ts";
import { listQueuesWithOwners } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { listPipelinesOfTriggers } from "../../../shared/triggers/store.ts";
import type { Place } from "../ui/audit-list.tsx";

type Entries = Awaited<ReturnType<typeof listAuditEvents>>;

/** Returns places by the ids of the subjects. */
export async function loadPlaces(
  { db }: Services,
  org: string,
  entries: Entries,
): Promise<Map<string, Place>> {
  const idsOf = (type: string) => [
    ...new Set(entries.flatMap(({ event }) => (event.subjectType === type ? event.subjectId : []))),
  ];
  const places = new Map<string, Place>();
  for (const [id, { queue, cluster }] of await listQueuesWithOwners(db, idsOf("queue"))) {
    const path = pathTo(patterns.queuePage, { org, cluster: cluster.id, queue: id });
    places.set(id, { owner: cluster.name, path: queue.deletedAt ? undefined : path });
  }
  for (const [id, { slug, name, deletedAt }] of await listPipelinesOfTriggers(db, idsOf("trigger"))) {
    const path = pathTo(patterns.triggerPage, { org, slug, trigger: id });
    places.set(id, { owner: name, path: deletedAt ? undefined : path });
  }
  for (const { id, slug } of await listPipelineNamesById(db, idsOf("pipeline")))
    places.set(id, { path: pathTo(patterns.pipelinePage, { org, slug }) });
  for (const { event } of entries) {
    const [, slug, number] = /^(.+) #(\d+)$/.exec(event.subject) ?? [];
    if (event.subjectType === "build" && slug && number)
      places.set(event.subjectId, { path: pathTo(patterns.buildPage, { org, slug, number }) });
    if (event.subjectType === "cluster")
      places.set(event.subjectId, { path: pathTo(patterns.clusterPage, { org, cluster: event.subjectId }) });
    if (event.subjectType === "repository_connection")
      places.set(event.subjectId, {
        path: pathTo(patterns.connectionPage, { org, connection: event.subjectId }),
      });
    if (event.subjectType === "agent")
      places.set(event.subjectId, { path: pathTo(patterns.agentPage, { org, agent: event.subjectId }) });
  }
  return places;
}
