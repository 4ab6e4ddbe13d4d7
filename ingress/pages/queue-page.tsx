import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { listUsersById } from "../../shared/accounts/store.ts";
import { countJobsOfQueues, listHeldBackBuilds } from "../../shared/builds/dispatch-store.ts";
import { pathTo, patterns } from "../../shared/paths.ts";
import type { Queue } from "../../shared/queues/store.ts";
import type { Services } from "../../shared/services.ts";
import { eventsPath } from "../live.ts";
import { AuditList } from "./audit-list.tsx";
import { kindOf, mostCounted, shown } from "./cluster-page.tsx";
import { CsrfField, FormError, PostButton, TextArea } from "./form-parts.tsx";
import { type MemberRequest, memberPage } from "./member-page.ts";
import type { Shown } from "./page.ts";
import { pathOf, queueOf } from "./queue-at.ts";
import { State } from "./tables.tsx";
import { Time } from "./times.tsx";

export const longestNote = 2000;
const mostBuilds = 20;
const mostAuditEntries = 10;

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
  refused?: { note: string; problem: string },
): Promise<Shown> {
  const { clock } = services;
  const { organization, role, visitor } = request;
  const at = await readQueue(services, request);
  const { cluster, queue, audit, now } = { ...at, now: clock.now() };
  const path = (pattern: string) => pathOf(request, queue, pattern);
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
        {queue.description && <p class="lead">{queue.description}</p>}
        {refused && <FormError>{refused.problem}</FormError>}
        {queue.dispatchPausedAt && (
          <div class="warning">
            <p>
              Paused by {at.nameOf(queue.dispatchPausedById)} <Time at={queue.dispatchPausedAt} now={now} />.
              Jobs that wait here are handed out once it is resumed.
            </p>
            {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
            {role === "admin" && (
              <PostButton visitor={visitor} path={path(patterns.resumeQueuePage)}>
                Resume
              </PostButton>
            )}
          </div>
        )}
        <Facts at={at} now={now} />
        {role === "admin" && !queue.dispatchPausedAt && (
          <section class="card" aria-labelledby="pause">
            <h2 id="pause">Pause this queue</h2>
            <form method="post" action={path(patterns.pauseQueuePage)}>
              <CsrfField visitor={visitor} />
              <TextArea
                label="Note"
                name="note"
                value={refused?.note}
                maxLength={longestNote}
                hint="Why, if you like: people see it here and on builds that wait. Jobs that run go on."
              />
              <p class="actions">
                <button type="submit">Pause</button>
              </p>
            </form>
          </section>
        )}
        {queue.dispatchPausedAt && <HeldBack builds={at.heldBack} org={organization.slug} />}
        <AuditList entries={audit} now={now} />
      </>
    ),
  };
}

type QueueDetails = Awaited<ReturnType<typeof readQueue>>;

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
    counts: (await countJobsOfQueues(db, [queue.id], mostCounted)).get(queue.id),
    heldBack: dispatchPausedAt ? await listHeldBackBuilds(db, queue.id, mostBuilds) : [],
    audit: await listAuditEvents(db, audited, mostAuditEntries),
  };
}

function Facts({ at: { cluster, queue, counts, nameOf }, now }: { at: QueueDetails; now: Date }) {
  return (
    <dl class="facts panel">
      <dt>Jobs waiting</dt>
      <dd>{shown(counts?.waiting ?? 0)}</dd>
      <dt>Jobs running</dt>
      <dd>{shown(counts?.running ?? 0)}</dd>
      <dt>Agents</dt>
      <dd>{kindOf(queue)}</dd>
      {queue.agentImageRef && (
        <>
          <dt>Image</dt>
          <dd>
            <code>{queue.agentImageRef}</code>
          </dd>
        </>
      )}
      {queue.instanceShape === null && (
        <>
          <dt>Retries prefer</dt>
          <dd>{affinityInWords(queue)}</dd>
        </>
      )}
      {queue.id === cluster.defaultQueueId && (
        <>
          <dt>Default queue</dt>
          <dd>Steps that name no queue run here.</dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={queue.createdAt} now={now} /> by {nameOf(queue.createdById)}
      </dd>
    </dl>
  );
}

function affinityInWords({ retryAgentAffinity }: Queue): string {
  return retryAgentAffinity === "prefer-warmest"
    ? "agents that have just finished a job"
    : "a different agent";
}

function HeldBack({ builds, org }: { builds: QueueDetails["heldBack"]; org: string }) {
  return (
    <section aria-labelledby="held-back">
      <h2 id="held-back">Builds that wait for it</h2>
      {builds.length === 0 ? (
        <p class="quiet">None.</p>
      ) : (
        <ul class="links">
          {builds.map(({ build, pipeline }) => (
            <li key={build.id}>
              <a
                href={pathTo(patterns.buildPage, { org, slug: pipeline.slug, number: String(build.number) })}
              >
                {pipeline.name} #{build.number}
              </a>{" "}
              {build.message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
