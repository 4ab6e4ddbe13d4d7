import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import { BuildList } from "../builds/list.tsx";
import { WaitsInQueue } from "../job-facts/waiting.tsx";
import { State } from "../states/state.tsx";
import { causeWords } from "../triggers/refused.tsx";
import { Duration, Time } from "../ui/times.tsx";
import { maxBlocked, type Overview, overviewLengths } from "./load.ts";

export interface OrganizationState {
  organization: Organization;
  overview: Overview;
}

/** The topics whose events reload an open page. */
export function topicsOf({ overview }: OrganizationState): Topic[] {
  const { builds, paused, waiting, refused } = overview;
  return [
    ...new Set<Topic>([
      ...builds.flatMap(({ build }): Topic[] => [`build:${build.id}`, `pipeline:${build.pipelineId}`]),
      ...waiting.map(({ job }): Topic => `build:${job.buildId}`),
      ...paused.map(({ queue }): Topic => `queue:${queue.id}`),
      ...refused.flatMap(([first]): Topic[] => (first ? [`trigger:${first.triggerId}`] : [])),
    ]),
  ];
}

/** Shows paused queues, waits and refusals of an organization, then its last builds. */
export function OverviewOf({ organization, overview }: OrganizationState) {
  const { slug: org, name } = organization;
  const { builds, paused, waiting, refused, waitForPeople } = overview;
  const isQuiet = paused.length + waiting.length + refused.length + waitForPeople === 0;
  return (
    <section class="overview" aria-labelledby={`organization-${org}`}>
      <div class="heading">
        <h2 id={`organization-${org}`}>
          <a href={pathTo(patterns.organizationPage, { org })}>{name}</a>
        </h2>
        {builds.length > 0 && <a href={pathTo(patterns.buildsPage, { org })}>All builds</a>}
      </div>
      {!isQuiet && (
        <ul class="attention">
          <WaitForPeople count={waitForPeople} org={org} />
          <Paused overview={overview} org={org} />
          <Waiting overview={overview} organization={organization} />
          <Refusing overview={overview} org={org} />
        </ul>
      )}
      {builds.length === 0 ? (
        <p class="empty">No build yet.</p>
      ) : (
        <BuildList builds={builds} org={org} namesPipeline />
      )}
    </section>
  );
}

function WaitForPeople({ count, org }: { count: number; org: string }) {
  if (count === 0) return null;
  const words =
    count > maxBlocked
      ? `More than ${maxBlocked} builds wait`
      : count === 1
        ? "1 build waits"
        : `${count} builds wait`;
  return (
    <li>
      <State state="blocked" />{" "}
      <a href={`${pathTo(patterns.buildsPage, { org })}?state=blocked`}>{words} for people</a>
    </li>
  );
}

function Paused({ overview, org }: { overview: Overview; org: string }) {
  const shown = overview.paused.slice(0, overviewLengths.paused);
  return (
    <>
      {shown.map(({ queue, cluster }) => (
        <li key={queue.id}>
          <State state="paused" />{" "}
          <a href={pathTo(patterns.queuePage, { org, cluster: cluster.id, queue: queue.id })}>{queue.key}</a>{" "}
          of {cluster.name}
          {queue.dispatchPausedAt && (
            <span class="quiet">
              {" "}
              <Time at={queue.dispatchPausedAt} /> by{" "}
              {overview.pausedBy.get(queue.dispatchPausedById ?? "")?.name ?? "somebody"}
            </span>
          )}
          {queue.dispatchPausedNote && <span class="note">{queue.dispatchPausedNote}</span>}
        </li>
      ))}
      {overview.paused.length > shown.length && (
        <li>
          <a href={pathTo(patterns.clustersPage, { org })}>More queues</a> are paused.
        </li>
      )}
    </>
  );
}

function Waiting({ overview, organization }: OrganizationState) {
  const org = organization.slug;
  return (
    <>
      {overview.waiting.map(({ job, build, pipeline }) => {
        const queue = overview.queues.get(job.queueId ?? "");
        const place = { org, slug: pipeline.slug, number: String(build.number) };
        const reason = overview.reasons.get(job.id);
        return (
          <li key={job.id}>
            <State state="waiting" />{" "}
            <a href={pathTo(patterns.jobPage, { ...place, job: job.id })}>
              {job.label ?? job.command?.split("\n", 1)[0]?.slice(0, 100) ?? "Job"}
            </a>{" "}
            of {pipeline.name} #{build.number}
            <span class="quiet">
              {" "}
              for <Duration from={job.scheduledAt ?? job.createdAt} to={null} />
              {queue && ` in the queue ${queue.key}`}
              {reason && reason.kind !== "steps" && (
                <>
                  {": "}
                  <WaitsInQueue reason={reason} request={{ organization }} />
                </>
              )}
            </span>
          </li>
        );
      })}
    </>
  );
}

function Refusing({ overview, org }: { overview: Overview; org: string }) {
  return (
    <>
      {overview.refused.map((counts) => {
        const [most] = counts.toSorted((a, b) => b.count - a.count);
        if (!most) return null;
        const total = counts.reduce((sum, { count }) => sum + count, 0);
        const { trigger, pipeline } = most;
        const place = { org, slug: pipeline.slug, trigger: trigger.id };
        const path = trigger.isProvider
          ? `${pathTo(patterns.providerPage, place)}#refused`
          : `${pathTo(patterns.triggerPage, place)}#refused`;
        return (
          <li key={most.triggerId}>
            <State state="refuses" /> <a href={path}>{trigger.label}</a> of {pipeline.name}
            <span class="quiet">
              {" "}
              has refused {total === 1 ? "a delivery" : `${total.toLocaleString("en")} deliveries`} since the
              last hour began: {causeWords[most.cause][0].toLowerCase()}
            </span>
          </li>
        );
      })}
    </>
  );
}
