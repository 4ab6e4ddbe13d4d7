import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { requireCluster } from "../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { countJobsOfQueues } from "../../../shared/dispatch/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { findShape, type InstanceShape } from "../../../shared/queues/shapes.ts";
import { listQueueIds, listQueues, type Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { readPageWithin } from "../../http/number-pager.ts";
import { AuditList } from "../organization/audit-list.tsx";
import { eventsPath } from "../ui/live.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { State, Table } from "../ui/tables.tsx";

const perPage = 30;
const maxAuditEntries = 20;
const maxAuditedQueues = 200;
/** Nobody counts further by eye. */
export const maxCounted = 1000;

type Counts = Awaited<ReturnType<typeof countJobsOfQueues>>;

/** GET /organizations/:org/clusters/:cluster: its queues, and what was done to them. */
export function clusterPage(services: Services) {
  const { db, clock } = services;
  return memberPage(services, async (request) => {
    const { organization, role, visitor, event } = request;
    const cluster = await clusterOf(services, request);
    const page = readPageWithin(event, cluster.queueCount, perPage);
    const queues = await listQueues(db, cluster.id, page);
    const ids = queues.map(({ id }) => id);
    const counts = await countJobsOfQueues(db, ids, maxCounted);
    const audit = await auditOf(services, cluster);
    const parameters = { org: organization.slug, cluster: cluster.id };
    const path = pathTo(patterns.clusterPage, parameters);
    return {
      title: cluster.name,
      within: { organization, section: "clusters" },
      events: eventsPath(services, visitor, [
        `cluster:${cluster.id}`,
        ...ids.map((id) => `queue:${id}` as const),
      ]),
      content: (
        <>
          <p class="back">
            <a href={pathTo(patterns.clustersPage, parameters)}>Clusters</a>
          </p>
          <div class="heading">
            <h1>{clusterTitle(cluster)}</h1>
            {role === "admin" && (
              <p class="actions">
                <a class="button" href={pathTo(patterns.newQueuePage, parameters)}>
                  New queue
                </a>
                <a class="button secondary" href={pathTo(patterns.editClusterPage, parameters)}>
                  Edit
                </a>
                <a class="button danger" href={pathTo(patterns.deleteClusterPage, parameters)}>
                  Delete
                </a>
              </p>
            )}
          </div>
          {cluster.description && <p class="lead">{cluster.description}</p>}
          {queues.length === 0 ? (
            <p class="empty">
              This cluster has no queue yet, so nothing can run here.{" "}
              {role === "admin" && <a href={pathTo(patterns.newQueuePage, parameters)}>Create a queue</a>}
            </p>
          ) : (
            <Queues cluster={cluster} queues={queues} counts={counts} org={organization.slug} />
          )}
          <NumberPager page={page} total={cluster.queueCount} path={path} />
          <AuditList entries={audit} now={clock.now()} />
          {role === "admin" && (
            <p class="audit-log">
              <a href={pathTo(patterns.auditPage, { org: organization.slug })}>Audit log</a> of the whole
              organization, with tokens, apps, triggers and members
            </p>
          )}
        </>
      ),
    };
  });
}

/** What was done to the cluster and to its queues, those that are gone too. */
async function auditOf({ db }: Services, { id, organizationId }: Cluster) {
  const subjectIds = [id, ...(await listQueueIds(db, id, maxAuditedQueues))];
  const of = { organizationId, subjects: { types: ["cluster", "queue"], ids: subjectIds } };
  return listAuditEvents(db, of, maxAuditEntries);
}

/** Its emoji, where that is one and not a name like `:rocket:`, and its name. */
export function clusterTitle({ emoji, name }: Cluster): string {
  return emoji && !emoji.startsWith(":") ? `${emoji} ${name}` : name;
}

/** @throws Refusal 404 */
export function clusterOf({ db }: Services, { organization, parameter }: MemberRequest): Promise<Cluster> {
  return requireCluster(db, organization.id, parameter("cluster"));
}

function Queues({
  cluster,
  queues,
  counts,
  org,
}: {
  cluster: Cluster;
  queues: Queue[];
  counts: Counts;
  org: string;
}) {
  return (
    <Table caption="Queues" columns={["Queue", "State", "Waiting", "Running", "Agents"]}>
      {queues.map((queue) => {
        const { waiting = 0, running = 0 } = counts.get(queue.id) ?? {};
        const path = pathTo(patterns.queuePage, { org, cluster: cluster.id, queue: queue.id });
        return (
          <tr key={queue.id}>
            <th scope="row">
              <a href={path}>{queue.key}</a>{" "}
              {queue.id === cluster.defaultQueueId && <span class="tag">default</span>}
            </th>
            <td>
              <State state={queue.dispatchPausedAt ? "paused" : "active"} />
            </td>
            <td class="number">{shown(waiting)}</td>
            <td class="number">{shown(running)}</td>
            <td class="agents">{kindOf(queue)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/** `Self-hosted`, or the shape in words. */
export function kindOf({ instanceShape }: Queue): string {
  const shape = instanceShape === null ? undefined : findShape(instanceShape);
  return shape ? `Hosted, ${machineInWords(shape)} ${sizeInWords(shape)}` : "Self-hosted";
}

const machineWords = { linux: "Linux", macos: "macOS", windows: "Windows" } as const;

/** `Linux AMD64`. */
export function machineInWords({ machineType, architecture }: InstanceShape): string {
  return `${machineWords[machineType]} ${architecture.toUpperCase()}`;
}

/** `Small (2 vCPU, 4 GB)`. */
export function sizeInWords({ size, cpu, memoryGb }: InstanceShape): string {
  return `${size} (${cpu} vCPU, ${memoryGb} GB)`;
}

/** A count that stops being exact at its limit. */
export function shown(count: number): string {
  return count >= maxCounted ? `${maxCounted.toLocaleString("en")} or more` : String(count);
}
