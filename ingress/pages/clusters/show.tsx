import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { AuditList } from "../organization/audit-list.tsx";
import { agentsInWords, jobCountInWords } from "../queues/words.ts";
import { eventsPath } from "../ui/live.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { State, Table } from "../ui/tables.tsx";
import { type ClusterDetails, clusterPath, loadClusterDetails } from "./load.ts";
import { clusterTitle } from "./title.ts";

/** GET …/clusters/:cluster: its queues and its history. */
export function clusterPage(services: Services) {
  const { clock } = services;
  return memberPage(services, async (request) => {
    const { organization, visitor } = request;
    const details = await loadClusterDetails(services, request);
    const { cluster, queues } = details;
    const queueTopics = queues.map(({ id }) => `queue:${id}` as const);
    return {
      title: cluster.name,
      within: { organization, section: "clusters" },
      events: eventsPath(services, visitor, [`cluster:${cluster.id}`, ...queueTopics]),
      content: <ClusterView request={request} details={details} now={clock.now()} />,
    };
  });
}

function ClusterView({
  request,
  details,
  now,
}: {
  request: MemberRequest;
  details: ClusterDetails;
  now: Date;
}) {
  const { organization, role } = request;
  const { cluster, queues, list, audit } = details;
  const isAdmin = role === "admin";
  return (
    <>
      <p class="back">
        <a href={pathTo(patterns.clustersPage, { org: organization.slug })}>Clusters</a>
      </p>
      <div class="heading">
        <h1>{clusterTitle(cluster)}</h1>
        {isAdmin && <Actions request={request} cluster={cluster} />}
      </div>
      {cluster.description && <p class="lead">{cluster.description}</p>}
      {queues.length === 0 ? (
        <p class="empty">
          This cluster has no queue yet, so nothing can run here.{" "}
          {isAdmin && <a href={clusterPath(request, cluster, patterns.newQueuePage)}>Create a queue</a>}
        </p>
      ) : (
        <Queues details={details} org={organization.slug} />
      )}
      <NumberPager list={list} path={clusterPath(request, cluster)} />
      <AuditList entries={audit} now={now} />
      {isAdmin && (
        <p class="audit-log">
          <a href={pathTo(patterns.auditPage, { org: organization.slug })}>Audit log</a> of the whole
          organization, with tokens, apps, triggers and members
        </p>
      )}
    </>
  );
}

function Actions({ request, cluster }: { request: MemberRequest; cluster: Cluster }) {
  return (
    <p class="actions">
      <a class="button" href={clusterPath(request, cluster, patterns.newQueuePage)}>
        New queue
      </a>
      <a class="button secondary" href={clusterPath(request, cluster, patterns.editClusterPage)}>
        Edit
      </a>
      <a class="button danger" href={clusterPath(request, cluster, patterns.deleteClusterPage)}>
        Delete
      </a>
    </p>
  );
}

function Queues({ details: { cluster, queues, counts }, org }: { details: ClusterDetails; org: string }) {
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
            <td class="number">{jobCountInWords(waiting)}</td>
            <td class="number">{jobCountInWords(running)}</td>
            <td class="agents">{agentsInWords(queue)}</td>
          </tr>
        );
      })}
    </Table>
  );
}
