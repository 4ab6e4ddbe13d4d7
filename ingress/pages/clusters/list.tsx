import { clusterMembers } from "../../../shared/clusters/members.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import type { Services } from "../../../shared/services/services.ts";
import { clusterPath } from "../address/cluster.ts";
import { queuePath } from "../address/queue.ts";
import { StartAgent } from "../agents/start.tsx";
import { Agents } from "../agents/table.tsx";
import { QueueState } from "../queues/state.tsx";
import { jobCountInWords } from "../queues/words.ts";
import type { Draft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { titleOf } from "../resources/title.ts";
import { State } from "../states/state.tsx";
import { PostForm } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { EntryList, separator, Table } from "../ui/tables.tsx";
import { agentsPrefix, type ClusterList, loadClusters } from "./load.ts";

const maxNamedQueues = 3;

interface Refused {
  draft: Draft;
  problems: FormProblems;
}

/** GET …/clusters: agents, queues and clusters of the organization. */
export const clustersPage = memberPage((services, request) => showClusters(services, request));

/** Queues, agents, clusters and, for admins, the form for a new cluster. */
export async function showClusters(
  services: Services,
  request: MemberRequest,
  refused?: Refused,
): Promise<PageContent> {
  const { organization, role } = request;
  const loaded = await loadClusters(services, request);
  const { list } = loaded;
  return {
    title: "Agents",
    status: refused ? 422 : 200,
    section: "clusters",
    script: "once.js",
    topics: topicsOf(loaded),
    content: (
      <>
        <h1>Agents</h1>
        <QueueTable loaded={loaded} request={request} />
        <ConnectedAgents loaded={loaded} request={request} />
        <h2 id="clusters">Clusters</h2>
        <p>A cluster is a group of queues. Pipelines run their jobs on the queues of one cluster.</p>
        <p>
          <a href={pathTo(patterns.groupsPage, { org: organization.slug })}>Concurrency groups</a> limit how
          many jobs of some steps run at once.
        </p>
        <EntryList
          rows={list.rows}
          empty={
            <>There is no cluster yet.{role !== "admin" && " Admins of the organization can create one."}</>
          }
        >
          {(cluster) => (
            <Entry key={cluster.id} cluster={cluster} path={clusterPath(request, cluster)} {...loaded} />
          )}
        </EntryList>
        <NumberPager
          list={list}
          path={pathTo(patterns.clustersPage, { org: organization.slug })}
          label="Pages of clusters"
          section="clusters"
        />
        {role === "admin" && <NewCluster request={request} refused={refused} />}
      </>
    ),
  };
}

function topicsOf({ queues, list }: ClusterList): Topic[] {
  const ofQueues = queues.map(({ queue }): Topic => `queue:${queue.id}`);
  return [...ofQueues, ...list.rows.map(({ id }): Topic => `cluster:${id}`)];
}

function QueueTable({
  loaded: { queues, hasMoreQueues },
  request,
}: {
  loaded: ClusterList;
  request: MemberRequest;
}) {
  if (queues.length === 0) return null;
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <Table caption="Queues" columns={["Queue", "Cluster", "State", "Waiting", "Agents"]} isList>
        {queues.map(({ queue, cluster, waiting, connected, busy }) => (
          <tr key={queue.id}>
            <th scope="row">
              <a href={queuePath(request, queue)}>{queue.key}</a>
            </th>
            <td>
              <a href={clusterPath(request, cluster)}>{cluster.name}</a>
            </td>
            <td>
              <QueueState queue={queue} waiting={waiting} connected={connected} />
            </td>
            <td class="number" data-label="Waiting">
              {jobCountInWords(waiting)}
            </td>
            <td class="number">
              {busy} of {connected} busy
            </td>
          </tr>
        ))}
      </Table>
      {hasMoreQueues && <p class="quiet">The pages of clusters list further queues.</p>}
    </section>
  );
}

function ConnectedAgents({
  loaded: { agents, queues },
  request,
}: {
  loaded: ClusterList;
  request: MemberRequest;
}) {
  const [first] = queues;
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      {agents.rows.length === 0 ? (
        <>
          <p class="empty">
            No agent is connected.{!first && " Create a cluster and its first queue: an agent needs both."}
          </p>
          {first && <StartAgent cluster={first.cluster} queues={[first.queue]} request={request} />}
        </>
      ) : (
        <Agents agents={agents} request={request} hasQueues />
      )}
      <NumberPager
        list={agents}
        path={pathTo(patterns.clustersPage, { org: request.organization.slug })}
        prefix={agentsPrefix}
        label="Pages of agents"
        section="agents"
      />
    </section>
  );
}

function Entry({ cluster, path, paused, counts }: { cluster: Cluster; path: string } & ClusterList) {
  const { id, description } = cluster;
  const keys = paused.get(id) ?? [];
  const { queues = 0, waiting = 0, isAll = true } = counts.get(id) ?? {};
  const jobs = `${waiting.toLocaleString("en")}${isAll ? "" : " or more"}`;
  return (
    <li class="entry">
      <div>
        <h2>
          <a href={path}>{titleOf(cluster)}</a>
        </h2>
        {description && <p>{description}</p>}
        <p class="quiet">
          {queues === 1 ? "1 queue" : `${queues} queues`}
          {waiting > 0 && `${separator}${jobs} ${waiting === 1 ? "job waits" : "jobs wait"}`}
        </p>
        {keys.length > 0 && (
          <p>
            <State state="paused" /> {keys.slice(0, maxNamedQueues).join(", ")}
            {keys.length > maxNamedQueues && ` and ${keys.length - maxNamedQueues} more`}
          </p>
        )}
      </div>
    </li>
  );
}

function NewCluster({
  request: { organization },
  refused,
}: {
  request: MemberRequest;
  refused: Refused | undefined;
}) {
  return (
    <section class="card" aria-labelledby="new-cluster">
      <h2 id="new-cluster">New cluster</h2>
      <PostForm
        path={pathTo(patterns.clustersPage, { org: organization.slug })}
        problems={refused?.problems}
        button="Create cluster"
      >
        <MemberFields
          members={clusterMembers}
          when="create"
          draft={refused?.draft}
          problems={refused?.problems}
        />
      </PostForm>
    </section>
  );
}
