import { listUsersById } from "../../shared/accounts/store.ts";
import { queueDependents } from "../../shared/builds/dependents.ts";
import { countJobsOfQueues, listHeldBackBuilds } from "../../shared/builds/dispatch-store.ts";
import { pathTo, patterns } from "../../shared/paths.ts";
import { pauseDispatch, resumeDispatch } from "../../shared/queues/dispatch.ts";
import { problemsOf, text } from "../../shared/queues/input.ts";
import { deleteQueue, requireQueue } from "../../shared/queues/queues.ts";
import type { Cluster, Queue } from "../../shared/queues/store.ts";
import type { Services } from "../../shared/services.ts";
import type { Bodies } from "../body.ts";
import { eventsPath } from "../live.ts";
import type { Visitor } from "../session.ts";
import { clusterOf, kindOf, mostCounted, shown } from "./cluster-page.tsx";
import { confirmation } from "./confirmation.tsx";
import { CsrfField, FormError, PostButton, TextArea } from "./form-parts.tsx";
import {
  adminAction,
  asSentence,
  type MemberRequest,
  memberPage,
  orProblem,
  requireAdmin,
} from "./member-page.ts";
import type { Shown } from "./page.ts";
import { State } from "./tables.tsx";
import { Time } from "./times.tsx";

const longestNote = 2000;
const mostBuilds = 20;

/** GET /organizations/:org/clusters/:cluster/queues/:queue */
export function queuePage(services: Services) {
  return memberPage(services, async (request) => show(services, request, await queueOf(services, request)));
}

/** POST …/pause {note} */
export function pauseQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const at = await queueOf(services, request);
    const note = form.get("note") ?? "";
    const problems = problemsOf(text("Note", longestNote), note);
    const outcome =
      problems.length > 0
        ? { problem: asSentence(problems) }
        : await orProblem(() => pauseDispatch(services, request.actor, at.queue, note || null));
    if ("problem" in outcome) return show(services, request, at, outcome.problem);
    return pathOf(request, at.queue);
  });
}

/** POST …/resume */
export function resumeQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request) => {
    const at = await queueOf(services, request);
    const outcome = await orProblem(() => resumeDispatch(services, request.actor, at.queue));
    if ("problem" in outcome)
      return show(services, request, await queueOf(services, request), outcome.problem);
    return pathOf(request, at.queue);
  });
}

/** GET …/delete */
export function deleteQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    return askToDelete(request, (await queueOf(services, request)).queue);
  });
}

/** POST …/delete */
export function removeQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request) => {
    const { queue } = await queueOf(services, request);
    const outcome = await orProblem(() => deleteQueue(services, request.actor, queue, queueDependents));
    if ("problem" in outcome) return askToDelete(request, queue, outcome.problem);
    return pathTo(patterns.clusterPage, { org: request.organization.slug, cluster: queue.clusterId });
  });
}

interface At {
  cluster: Cluster;
  queue: Queue;
}

/** @throws Refusal 404 */
export async function queueOf(services: Services, request: MemberRequest): Promise<At> {
  const cluster = await clusterOf(services, request);
  return { cluster, queue: await requireQueue(services.db, cluster, request.parameter("queue")) };
}

export function pathOf({ organization }: MemberRequest, { clusterId, id }: Queue, pattern?: string): string {
  const parameters = { org: organization.slug, cluster: clusterId, queue: id };
  return pathTo(pattern ?? patterns.queuePage, parameters);
}

function askToDelete(request: MemberRequest, queue: Queue, problem?: string): Shown {
  return confirmation(request.visitor, {
    title: `Delete the queue ${queue.key}?`,
    text: "Agents that are assigned to it get no more jobs. This cannot be undone.",
    button: "Delete",
    path: pathOf(request, queue, patterns.deleteQueuePage),
    back: pathOf(request, queue),
    problem,
  });
}

async function show(
  services: Services,
  request: MemberRequest,
  { cluster, queue }: At,
  problem?: string,
): Promise<Shown> {
  const { db, clock } = services;
  const { organization, role, visitor } = request;
  const counts = (await countJobsOfQueues(db, [queue.id], mostCounted)).get(queue.id);
  const heldBack = queue.dispatchPausedAt ? await listHeldBackBuilds(db, queue.id, mostBuilds) : [];
  const pausedBy = queue.dispatchPausedById
    ? (await listUsersById(db, [queue.dispatchPausedById])).get(queue.dispatchPausedById)?.name
    : undefined;
  return {
    title: queue.key,
    status: problem ? 422 : 200,
    within: { organization, section: "clusters" },
    events: eventsPath(services, visitor, [`queue:${queue.id}`]),
    content: (
      <>
        <p class="back">
          <a href={pathTo(patterns.clusterPage, { org: organization.slug, cluster: cluster.id })}>
            {cluster.name}
          </a>
        </p>
        <h1>
          {queue.key} <State state={queue.dispatchPausedAt ? "paused" : "active"} />
        </h1>
        {problem && <FormError>{problem}</FormError>}
        {queue.dispatchPausedAt && (
          <div class="warning">
            <p>
              Paused by {pausedBy} <Time at={queue.dispatchPausedAt} now={clock.now()} />: no job of this
              queue is handed out.
            </p>
            {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
          </div>
        )}
        <Facts queue={queue} isDefault={queue.id === cluster.defaultQueueId} counts={counts} />
        {role === "admin" && <Actions request={request} queue={queue} visitor={visitor} />}
        {queue.dispatchPausedAt && <HeldBack builds={heldBack} org={organization.slug} />}
      </>
    ),
  };
}

function Facts({
  queue,
  isDefault,
  counts,
}: {
  queue: Queue;
  isDefault: boolean;
  counts: { waiting: number; running: number } | undefined;
}) {
  return (
    <dl class="facts">
      {queue.description && (
        <>
          <dt>Description</dt>
          <dd>{queue.description}</dd>
        </>
      )}
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
          <dt>Retries</dt>
          <dd>
            {queue.retryAgentAffinity === "prefer-warmest"
              ? "prefer agents that have just finished a job"
              : "prefer a different agent"}
          </dd>
        </>
      )}
      <dt>Jobs waiting</dt>
      <dd>{shown(counts?.waiting ?? 0)}</dd>
      <dt>Jobs running</dt>
      <dd>{shown(counts?.running ?? 0)}</dd>
      {isDefault && (
        <>
          <dt>Default</dt>
          <dd>Steps that name no queue run here</dd>
        </>
      )}
    </dl>
  );
}

function Actions({ request, queue, visitor }: { request: MemberRequest; queue: Queue; visitor: Visitor }) {
  const path = (pattern: string) => pathOf(request, queue, pattern);
  return (
    <>
      {queue.dispatchPausedAt ? (
        <PostButton visitor={visitor} path={path(patterns.resumeQueuePage)}>
          Resume
        </PostButton>
      ) : (
        <form method="post" action={path(patterns.pauseQueuePage)}>
          <CsrfField visitor={visitor} />
          <TextArea
            label="Note"
            name="note"
            maxLength={longestNote}
            hint="Why it is paused: people see it here and on builds that wait."
          />
          <p class="actions">
            <button type="submit">Pause</button>
          </p>
        </form>
      )}
      <p class="actions">
        <a class="button secondary" href={path(patterns.editQueuePage)}>
          Edit
        </a>
        <a class="button danger" href={path(patterns.deleteQueuePage)}>
          Delete
        </a>
      </p>
    </>
  );
}

function HeldBack({ builds, org }: { builds: Awaited<ReturnType<typeof listHeldBackBuilds>>; org: string }) {
  return (
    <section aria-labelledby="held-back">
      <h2 id="held-back">Builds that wait for it</h2>
      {builds.length === 0 ? (
        <p>None.</p>
      ) : (
        <ul>
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
