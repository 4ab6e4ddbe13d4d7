import type { ComponentChildren } from "preact";
import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { countJobsOfQueues, listPausedBuilds } from "../../../shared/dispatch/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { maxCounted } from "../clusters/show.tsx";
import { AuditList } from "../organization/audit-list.tsx";
import { FormError } from "../ui/form.tsx";
import { eventsPath } from "../ui/live.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { State } from "../ui/tables.tsx";
import { pathOf, queueOf } from "./load.ts";
import { Facts, Pause, PausedBuilds, PauseForm } from "./sections.tsx";

const maxPausedBuilds = { limit: 20, maxJobs: maxCounted };
const maxAuditEntries = 10;

/** GET /organizations/:org/clusters/:cluster/queues/:queue */
export function queuePage(services: Services) {
  return memberPage(services, (request) => showQueue(services, request));
}

/**
 * The queue as it is now.
 * @param refused what was asked of it and why it was not done
 */
export async function showQueue(
  services: Services,
  request: MemberRequest,
  refused?: { note: string; problem: ComponentChildren },
): Promise<PageContent> {
  const { clock } = services;
  const { organization, role, visitor } = request;
  const at = await readQueue(services, request);
  const { cluster, queue, audit } = at;
  const now = clock.now();
  const path = (pattern: PatternWith<"org" | "cluster" | "queue">) => pathOf(request, queue, pattern);
  return {
    title: queue.key,
    status: refused ? 422 : 200,
    within: { organization, section: "clusters" },
    // What answers a form stands at the form's address, which cannot be asked for again.
    ...(refused ? {} : { events: eventsPath(services, visitor, [`queue:${queue.id}`]) }),
    content: (
      <>
        <p class="back">
          <a href={pathTo(patterns.clusterPage, { org: organization.slug, cluster: cluster.id })}>
            {cluster.name}
          </a>
        </p>
        <div class="heading">
          <h1>
            {queue.key} <State state={queue.dispatchPausedAt ? "paused" : "active"} />
          </h1>
          {role === "admin" && (
            <p class="actions">
              <a class="button secondary" href={path(patterns.editQueuePage)}>
                Edit
              </a>
              <a class="button danger" href={path(patterns.deleteQueuePage)}>
                Delete
              </a>
            </p>
          )}
        </div>
        {refused && <FormError>{refused.problem}</FormError>}
        <Pause request={request} at={at} now={now} />
        {queue.description && <p class="lead">{queue.description}</p>}
        <Facts at={at} now={now} />
        {role === "admin" && !queue.dispatchPausedAt && (
          <PauseForm request={request} queue={queue} note={refused?.note} />
        )}
        {at.heldBack && <PausedBuilds held={at.heldBack} org={organization.slug} />}
        <AuditList entries={audit} now={now} />
      </>
    ),
  };
}

/** What the page shows of its queue. */
export type QueueDetails = Awaited<ReturnType<typeof readQueue>>;

async function readQueue(services: Services, request: MemberRequest) {
  const { db } = services;
  const { cluster, queue } = await queueOf(services, request);
  const { dispatchPausedAt, dispatchPausedById, createdById } = queue;
  const users = await listUsersById(db, [createdById, ...(dispatchPausedById ? [dispatchPausedById] : [])]);
  const audited = {
    organizationId: request.organization.id,
    subjects: { types: ["queue"], ids: [queue.id] },
  };
  return {
    cluster,
    queue,
    nameOf: (id: string | null) => users.get(id ?? "")?.name ?? "somebody",
    counts: (await countJobsOfQueues(db, [queue.id], maxCounted)).get(queue.id),
    heldBack: dispatchPausedAt ? await listPausedBuilds(db, queue.id, maxPausedBuilds) : undefined,
    audit: await listAuditEvents(db, audited, maxAuditEntries),
  };
}
