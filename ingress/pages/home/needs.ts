import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listPlacedJobs } from "../../../shared/agents/list-store.ts";
import { listReasonsInQueues, type WaitingReason } from "../../../shared/agents/waiting/reason.ts";
import { listLongestWaiting } from "../../../shared/builds/reading/job-list-store.ts";
import { listBuildsInBrief } from "../../../shared/builds/reading/list.ts";
import { listWaitingSteps } from "../../../shared/builds/rows/blocked-store.ts";
import type { QueueWork } from "../../../shared/dispatch/figures-store.ts";
import { hourMs, hourOf } from "../../../shared/durations.ts";
import { listPausedQueues, type PausedQueue, type Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import {
  listRefusalCountsOfOrganization,
  type PlacedRefusalCount,
} from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import { listLastRefused } from "../../../shared/triggers/deliveries/refused-requests-store.ts";
import { listLastDeliveries } from "../../../shared/triggers/deliveries/store.ts";
import { blockedBuildStates } from "../../../shared/vocabulary.ts";
import type { PlacedBuild } from "../builds/list.tsx";
import { withPipelines } from "../builds/load.ts";
import { needsPeople } from "../job-facts/remedy.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

/** Rows of each kind that are read. */
const limits = { paused: 100, waiting: 50, blocked: 20, refusalCounts: 100, steps: 100 };

/** Something that stays as it is until somebody acts. */
export type Need =
  | { kind: "refuses"; counts: PlacedRefusalCount[]; since: Date }
  | { kind: "no_agent"; queues: Queue[]; since: Date }
  | { kind: "no_agent_with_tags"; queue: Queue; tags: string[]; since: Date }
  | { kind: "agents_paused"; queue: Queue; since: Date }
  | { kind: "paused"; queue: Queue; by: string; since: Date }
  | { kind: "blocked"; placed: PlacedBuild; steps: string[]; isForReader: boolean; since: Date };

export type Needs = Awaited<ReturnType<typeof loadNeeds>>;

/** Like causes are one need. A few rows of each kind are read, by indexes. */
export async function loadNeeds(
  services: Services,
  { organization: { id }, role }: Pick<MemberRequest, "organization" | "role">,
  work: QueueWork[],
) {
  const { db, clock } = services;
  const hour = hourOf(clock.now());
  const since = new Date(hour.getTime() - hourMs);
  const refusals = await listRefusalCountsOfOrganization(db, {
    organizationId: id,
    since,
    limit: limits.refusalCounts,
  });
  const mended = await listMended(services, refusals);
  const paused = await listPausedQueues(db, { organizationId: id, limit: limits.paused + 1 });
  return {
    list: [
      ...refusing(refusals.filter(({ triggerId }) => !mended.has(triggerId))),
      ...(await waitingForAgents(services, id, work)),
      ...(await pausedQueues(services, paused)),
      ...(await blockedBuilds(services, id, role)),
    ],
    /** Queues. */
    paused: paused.length,
    /** Deliveries of this hour. */
    refused: refusals.reduce((sum, each) => (each.hour < hour ? sum : sum + each.count), 0),
  };
}

/** Triggers that took a delivery after the last one that they refused. */
async function listMended({ db }: Services, refusals: PlacedRefusalCount[]): Promise<Set<string>> {
  const ids = [...new Set(refusals.map(({ triggerId }) => triggerId))];
  if (ids.length === 0) return new Set();
  const taken = await listLastDeliveries(db, ids);
  const refused = await listLastRefused(db, ids);
  const isMended = ({ triggerId, hour }: PlacedRefusalCount) => {
    const takenAt = taken.get(triggerId)?.receivedAt;
    const sampledAt = refused.get(triggerId);
    // Where no samples are kept, the hour alone is known.
    const refusedAt = sampledAt && sampledAt >= hour ? sampledAt : new Date(hour.getTime() + hourMs);
    return takenAt !== undefined && takenAt > refusedAt;
  };
  // The latest hour of each comes first.
  const latest = new Map(refusals.toReversed().map((count) => [count.triggerId, count]));
  return new Set(ids.filter((id) => isMended(latest.get(id) as PlacedRefusalCount)));
}

function refusing(refusals: PlacedRefusalCount[]): Need[] {
  return [...Map.groupBy(refusals, ({ triggerId }) => triggerId).values()].map((counts) => ({
    kind: "refuses",
    counts,
    since: earliest(counts.map(({ hour }) => hour)),
  }));
}

/** By the jobs that have waited longest. Those of paused queues are not among them. */
async function waitingForAgents(
  services: Services,
  organizationId: string,
  work: QueueWork[],
): Promise<Need[]> {
  const { db } = services;
  const jobs = await listPlacedJobs(db, await listLongestWaiting(db, organizationId, limits.waiting));
  const reasons = await listReasonsInQueues(
    services,
    [...jobs.values()].map(({ job }) => job),
  );
  const waits = [...reasons].flatMap(([id, reason]) => {
    const { job } = jobs.get(id) ?? {};
    return job && needsPeople(reason) ? [{ reason, since: job.scheduledAt ?? job.createdAt }] : [];
  });
  return [
    ...Map.groupBy([...withoutAgents(work), ...waits], ({ reason }) => causeOf(reason)).values(),
  ].flatMap((alike) =>
    needOf(
      alike.map(({ reason }) => reason),
      earliest(alike.map(({ since }) => since)),
    ),
  );
}

/** The list of jobs that have waited longest has one job of a build, which may have jobs on several queues. */
function withoutAgents(work: QueueWork[]): { reason: WaitingReason; since: Date }[] {
  return work.flatMap(({ queue, connected, waitsSince }) =>
    waitsSince && connected === 0 && !queue.dispatchPausedAt
      ? [{ reason: { kind: "no_agent", queue, tags: [] }, since: waitsSince }]
      : [],
  );
}

/** Equal for what one need stands for. */
function causeOf(reason: WaitingReason): string {
  if (reason.kind === "no_agent") return reason.kind;
  const tags = "tags" in reason ? reason.tags.join() : "";
  return [reason.kind, "queue" in reason ? reason.queue.id : "", tags].join(" ");
}

function needOf(alike: WaitingReason[], since: Date): Need[] {
  const [reason] = alike;
  switch (reason?.kind) {
    case "no_agent": {
      const queues = alike.flatMap((each) => ("queue" in each ? [[each.queue.id, each.queue] as const] : []));
      return [{ kind: "no_agent", queues: [...new Map(queues).values()], since }];
    }
    case "no_agent_with_tags":
      return [{ kind: reason.kind, queue: reason.queue, tags: reason.tags, since }];
    case "agents_paused":
      return [{ kind: reason.kind, queue: reason.queue, since }];
    default:
      return [];
  }
}

async function pausedQueues({ db, clock }: Services, paused: PausedQueue[]): Promise<Need[]> {
  const userIds = paused.flatMap(({ queue }) => queue.dispatchPausedById ?? []);
  const users = await listUsersById(db, userIds);
  return paused.slice(0, limits.paused).map(({ queue }) => ({
    kind: "paused",
    queue,
    by: users.get(queue.dispatchPausedById ?? "")?.name ?? "somebody",
    since: queue.dispatchPausedAt ?? clock.now(),
  }));
}

async function blockedBuilds(
  services: Services,
  organizationId: string,
  role: MemberRequest["role"],
): Promise<Need[]> {
  const { db } = services;
  const filter = { organizationId, states: blockedBuildStates, includePaused: true };
  const { rows } = await listBuildsInBrief(db, filter, { limit: limits.blocked, offset: 0 });
  const ids = rows.map(({ id }) => id);
  const waiting = await listWaitingSteps(db, ids, limits.steps);
  const steps = Map.groupBy(waiting, ({ buildId }) => buildId);
  return (await withPipelines(services, rows)).map((placed) => {
    const ofBuild = steps.get(placed.build.id) ?? [];
    return {
      kind: "blocked",
      placed,
      steps: ofBuild.flatMap(({ label }) => label ?? []),
      isForReader: role === "admin" || !ofBuild.length || ofBuild.some(({ isForAdmins }) => !isForAdmins),
      since: placed.build.createdAt,
    };
  });
}

function earliest(times: Date[]): Date {
  return new Date(Math.min(...times.map((time) => time.getTime())));
}
