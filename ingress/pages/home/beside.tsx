import { listAuditPart } from "../../../shared/accounts/audit-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { listBuildsForRows, type RecentBuild } from "../../../shared/builds/reading/branch-builds-store.ts";
import { listBuildsInBrief } from "../../../shared/builds/reading/list.ts";
import { isOfFork } from "../../../shared/builds/rows/facts.ts";
import type { QueueWork } from "../../../shared/dispatch/figures-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { listPipelineNamesById } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { queuePath } from "../address/queue.ts";
import { firstLine } from "../builds/list.tsx";
import { StateIcon, stateInWords } from "../states/state.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { BuildName } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

const maxMine = 8;
/** Entries of the audit log about what the reader did last. */
const maxOwnActs = 100;

export type Mine = Awaited<ReturnType<typeof loadMine>>;

/**
 * The last builds that a member made or unblocked, and those among the last of all whose commit is theirs.
 * The commits of a fork name whom they like.
 * @param recent the last builds of the organization
 */
export async function loadMine({ db }: Services, organizationId: string, user: User, recent: RecentBuild[]) {
  const filter = { organizationId, creatorId: user.id, includePaused: true };
  const made = await listBuildsInBrief(db, filter, { limit: maxMine, offset: 0 });
  const acts = { organizationId, actorId: user.id, action: "unblocked a step of" };
  const { entries } = await listAuditPart(db, acts, { olderThan: undefined, size: maxOwnActs });
  const email = user.email.toLowerCase();
  const pushed = recent.filter((build) => !isOfFork(build) && build.author?.email?.toLowerCase() === email);
  const ids = [...made.rows, ...pushed].map(({ id }) => id);
  const unblocked = entries.slice(0, maxMine).map(({ event }) => event.subjectId);
  // Ids rise with time.
  const last = [...new Set([...ids, ...unblocked])].sort().reverse().slice(0, maxMine);
  const builds = await listBuildsForRows(db, last);
  const pipelineIds = [...new Set(builds.map(({ pipelineId }) => pipelineId))];
  const pipelines = new Map((await listPipelineNamesById(db, pipelineIds)).map((each) => [each.id, each]));
  return builds
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .flatMap((build) => {
      const pipeline = pipelines.get(build.pipelineId);
      return pipeline ? [{ build, pipeline }] : [];
    });
}

export function MyBuilds({ mine, org }: { mine: Mine; org: string }) {
  if (mine.length === 0) return null;
  return (
    <section aria-labelledby="mine" data-blocks="mine">
      <h2 id="mine">Mine</h2>
      <ul class="rows mine" data-blocks="my-builds">
        {mine.map(({ build, pipeline }) => (
          <li data-part="" key={build.id}>
            <StateIcon state={build.state} />
            <a
              class="name"
              href={pathTo(patterns.buildPage, { org, slug: pipeline.slug, number: String(build.number) })}
            >
              <BuildName pipeline={pipeline.name} number={build.number} />
              <span class="hidden"> {stateInWords(build.state)}</span>
            </a>
            <span class="message" title={firstLine(build.message)}>
              {firstLine(build.message)}
            </span>
            <span class="at">
              <Time at={build.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A line for each queue: how many agents are busy, and how many jobs wait. */
export function QueueLines({
  work,
  hasMore,
  request,
}: {
  work: QueueWork[];
  hasMore: boolean;
  request: MemberRequest;
}) {
  if (work.length === 0) return null;
  const maxConnected = Math.max(1, ...work.map(({ connected }) => connected));
  const path = pathTo(patterns.clustersPage, { org: request.organization.slug });
  return (
    <section aria-labelledby="agents" data-blocks="agents">
      <h2 id="agents">
        <a href={path}>Agents</a>
      </h2>
      <ul class="rows queues" data-blocks="queue-lines">
        {work.map(({ queue, waiting, connected, busy }) => (
          <li data-part="" key={queue.id}>
            <a class="name" href={queuePath(request, queue)}>
              {queue.key}
            </a>
            <svg class="load" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect class="connected" width={(100 * connected) / maxConnected} height="8" />
              <rect class="busy" width={(100 * busy) / maxConnected} height="8" />
            </svg>
            <span class="by">
              {busy} of {connected} busy
            </span>
            <span class={waiting === 0 ? "at none" : "at"}>{waiting.toLocaleString("en")} wait</span>
          </li>
        ))}
      </ul>
      {hasMore && (
        <p>
          <a href={path}>All queues</a>
        </p>
      )}
    </section>
  );
}
