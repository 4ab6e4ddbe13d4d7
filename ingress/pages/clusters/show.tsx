import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { clusterPath } from "../address/cluster.ts";
import { Stacks } from "../agents/stacks.tsx";
import { StartAgent } from "../agents/start.tsx";
import { Agents } from "../agents/table.tsx";
import { AgentTokens, addAgentToken, type RefusedToken } from "../agents/tokens.tsx";
import { LevelChart } from "../charts/level-chart.tsx";
import { connectedOf, QueueState } from "../queues/state.tsx";
import { agentsInWords, jobCountInWords } from "../queues/words.ts";
import { titleOf } from "../resources/title.ts";
import { AuditList } from "../ui/audit-list.tsx";
import { LinkButton } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { Table } from "../ui/tables.tsx";
import { type ClusterDetails, loadClusterDetails, tokensPrefix } from "./load.ts";

/** GET …/clusters/:cluster: its queues and its history. */
export const clusterPage = memberPage((services, request) => showCluster(services, request));

/** POST …/clusters/:cluster/tokens */
export const addTokenToCluster = addAgentToken(showCluster);

async function showCluster(
  services: Services,
  request: MemberRequest,
  refused?: RefusedToken,
): Promise<PageContent> {
  const details = await loadClusterDetails(services, request);
  const { cluster, queues } = details;
  const queueTopics = queues.map(({ id }) => `queue:${id}` as const);
  return {
    title: cluster.name,
    status: refused ? 422 : 200,
    section: "clusters",
    script: "once.js",
    topics: [`cluster:${cluster.id}`, ...queueTopics],
    content: <ClusterView request={request} details={details} refused={refused} />,
  };
}

function ClusterView({
  request,
  details,
  refused,
}: {
  request: MemberRequest;
  details: ClusterDetails;
  refused: RefusedToken | undefined;
}) {
  const { organization, role } = request;
  const { cluster, queues, list, audit } = details;
  const isAdmin = role === "admin";
  return (
    <>
      <div class="heading">
        <h1>{titleOf(cluster)}</h1>
        <Actions request={request} cluster={cluster} />
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
      <ClusterAgents request={request} details={details} />
      <Stacks stacks={details.stacks} />
      <Use details={details} />
      <AgentTokens
        {...details.tokens}
        prefix={tokensPrefix}
        choices={details.choices}
        path={clusterPath(request, cluster)}
        request={request}
        refused={refused}
      />
      <AuditList entries={audit} viewer={request} />
      {isAdmin && (
        <p class="audit-log">
          <a href={pathTo(patterns.auditPage, { org: organization.slug })}>Audit log</a> of the whole
          organization, with tokens, apps, triggers and members
        </p>
      )}
    </>
  );
}

function ClusterAgents({
  request,
  details: { agents, cluster, queues },
}: {
  request: MemberRequest;
  details: ClusterDetails;
}) {
  const [first] = queues;
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      {agents.rows.length === 0 ? (
        <>
          <p class="empty">No agent is connected.</p>
          {first && (
            <StartAgent
              cluster={cluster}
              queues={cluster.defaultQueueId === null ? [first] : []}
              request={request}
            />
          )}
        </>
      ) : (
        <Agents agents={agents} request={request} hasQueues />
      )}
      {agents.next && <p class="quiet">and more: the page of a queue lists all of its agents</p>}
    </section>
  );
}

function Use({ details: { chart, list } }: { details: ClusterDetails }) {
  const { isEmpty, ...levels } = chart;
  if (isEmpty) return null;
  return (
    <section aria-labelledby="use">
      <h2 id="use">Use</h2>
      <LevelChart id="day" subject="The last 24 hours" {...levels} />
      <p class="quiet">
        The sum of {list.next || list.page.number > 1 ? "the queues on this page" : "all queues"}: the highest
        value of each in ten minutes.
      </p>
    </section>
  );
}

function Actions({ request, cluster }: { request: MemberRequest; cluster: Cluster }) {
  const isAdmin = request.role === "admin";
  const secrets = clusterPath(request, cluster, patterns.secretsPage);
  return (
    <p class="actions">
      {isAdmin && <LinkButton href={clusterPath(request, cluster, patterns.newQueuePage)} text="New queue" />}
      {isAdmin ? (
        <LinkButton kind="secondary" href={secrets} text="Secrets" />
      ) : (
        <a href={secrets}>Secrets</a>
      )}
      {isAdmin && (
        <>
          <LinkButton
            kind="secondary"
            href={clusterPath(request, cluster, patterns.editClusterPage)}
            text="Edit"
          />
          <LinkButton
            kind="danger"
            href={clusterPath(request, cluster, patterns.deleteClusterPage)}
            text="Delete"
          />
        </>
      )}
    </p>
  );
}

function Queues({
  details: { cluster, queues, counts, agents },
  org,
}: {
  details: ClusterDetails;
  org: string;
}) {
  return (
    <Table caption="Queues" columns={["Queue", "State", "Waiting", "Running", "Agents"]} isList>
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
              <QueueState queue={queue} waiting={waiting} connected={connectedOf(queue, agents)} />
            </td>
            <td class="number" data-label="Waiting">
              {jobCountInWords(waiting)}
            </td>
            <td class="number" data-label="Running">
              {jobCountInWords(running)}
            </td>
            <td class="agents">{agentsInWords(queue)}</td>
          </tr>
        );
      })}
    </Table>
  );
}
