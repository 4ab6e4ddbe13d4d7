import type { ComponentChildren } from "preact";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { queuePath } from "../address/queue.ts";
import { StartAgent } from "../agents/start.tsx";
import { Agents } from "../agents/table.tsx";
import { LevelChart } from "../charts/level-chart.tsx";
import { AuditList } from "../ui/audit-list.tsx";
import { FormError, LinkButton } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import type { QueueCharts } from "./charts.ts";
import { QueueJobs } from "./jobs.tsx";
import { loadQueueDetails, type QueueDetails } from "./load.ts";
import { Facts, Pause, PauseForm } from "./sections.tsx";
import { connectedOf, QueueState } from "./state.tsx";
import { WaitsOf } from "./waits.tsx";

interface Refused {
  note: string;
  problem: ComponentChildren;
}

/** GET …/queues/:queue */
export const queuePage = memberPage((services, request) => showQueue(services, request));

/** @param refused a pause that was not accepted */
export async function showQueue(
  services: Services,
  request: MemberRequest,
  refused?: Refused,
): Promise<PageContent> {
  const details = await loadQueueDetails(services, request);
  const { queue } = details;
  return {
    title: queue.key,
    status: refused ? 422 : 200,
    section: "clusters",
    topics: [`queue:${queue.id}`],
    content: <QueueView request={request} details={details} refused={refused} />,
  };
}

function QueueView({
  request,
  details,
  refused,
}: {
  request: MemberRequest;
  details: QueueDetails;
  refused: Refused | undefined;
}) {
  const { queue, audit, counts, agents } = details;
  const isAdmin = request.role === "admin";
  return (
    <>
      <div class="heading">
        <h1>
          {queue.key}{" "}
          <QueueState queue={queue} waiting={counts?.waiting ?? 0} connected={connectedOf(queue, agents)} />
        </h1>
        {isAdmin && (
          <p class="actions">
            <LinkButton
              kind="secondary"
              href={queuePath(request, queue, patterns.editQueuePage)}
              text="Edit"
            />
            <LinkButton
              kind="danger"
              href={queuePath(request, queue, patterns.deleteQueuePage)}
              text="Delete"
            />
          </p>
        )}
      </div>
      {refused && <FormError>{refused.problem}</FormError>}
      <Pause request={request} details={details} />
      {queue.description && <p class="lead">{queue.description}</p>}
      <Facts details={details} />
      {isAdmin && !queue.dispatchPausedAt && (
        <PauseForm request={request} queue={queue} note={refused?.note} />
      )}
      <QueueJobs request={request} details={details} />
      <QueueAgents request={request} details={details} />
      <Use charts={details.charts} />
      <AuditList
        entries={audit}
        viewer={request}
        path={queuePath(request, queue, patterns.queueHistoryPage)}
      />
    </>
  );
}

function QueueAgents({
  request,
  details: { agents, cluster, queue },
}: {
  request: MemberRequest;
  details: QueueDetails;
}) {
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      {agents.rows.length === 0 ? (
        <>
          <p class="empty">No agent of this queue is connected.</p>
          <StartAgent cluster={cluster} queues={[queue]} request={request} />
        </>
      ) : (
        <Agents agents={agents} request={request} />
      )}
      <NumberPager list={agents} path={queuePath(request, queue)} />
    </section>
  );
}

function Use({ charts: { isEmpty, waits, pauses, day, week } }: { charts: QueueCharts }) {
  if (isEmpty && !waits.week) return null;
  return (
    <section aria-labelledby="use">
      <h2 id="use">Use</h2>
      {!isEmpty && (
        <>
          <LevelChart id="day" subject="The last 24 hours" {...day} shaded={pauses} />
          <LevelChart id="week" subject="The last 7 days" {...week} shaded={pauses} />
          {pauses.length > 0 && <p class="quiet">The queue was paused where the background is shaded.</p>}
        </>
      )}
      <WaitsOf waits={waits} />
    </section>
  );
}
