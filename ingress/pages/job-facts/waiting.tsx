import type { ComponentChildren } from "preact";
import type { WaitingReason } from "../../../shared/agents/waiting/reason.ts";
import { titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { jobPath } from "../address/build.ts";
import { groupPath } from "../address/group.ts";
import { queuePath } from "../address/queue.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { CodeList } from "../ui/tables.tsx";

/** Why a job waits, in words, for all pages. */
export function WaitsFor({
  reason,
  jobs = new Map(),
  request,
}: {
  reason: WaitingReason;
  /** The jobs that it names, by id. */
  jobs?: ReadonlyMap<string, Job>;
  request: MemberRequest;
}) {
  if (reason.kind === "steps") return <Steps reason={reason} jobs={jobs} request={request} />;
  return <WaitsInQueue reason={reason} request={request} />;
}

type InOrganization = Pick<MemberRequest, "organization">;

/** For lists of jobs of several builds, which wait for no steps. */
export function WaitsInQueue({
  reason,
  request,
}: {
  reason: Exclude<WaitingReason, { kind: "steps" }>;
  request: InOrganization;
}) {
  switch (reason.kind) {
    case "concurrency_group":
      return <Group reason={reason} request={request} />;
    case "reserved":
      return reason.stack ? (
        <>The stack {stackLink(request, reason.stack)} has reserved it, and is about to start an agent</>
      ) : (
        <>Its stack is gone: it is about to be scheduled again</>
      );
    case "queue_paused":
      return <>The queue {link(request, reason.queue)} is paused</>;
    case "no_agent":
      return <>No agent of the queue {link(request, reason.queue)} is connected</>;
    case "no_agent_with_tags":
      return <Tags reason={reason} request={request} />;
    case "agents_paused":
      return (
        <>
          {agentsInWords(reason)} of the queue {link(request, reason.queue)} may run it:{" "}
          {reason.agents === 1 ? "it is" : "all are"} paused, or about to stop
        </>
      );
    case "agents_busy":
      return <>Waits for its turn: {agentsInWords(reason).toLowerCase()} may run it</>;
  }
}

function link(request: InOrganization, queue: Queue): ComponentChildren {
  return <a href={queuePath(request, queue)}>{queue.key}</a>;
}

function stackLink(
  { organization }: InOrganization,
  { key, clusterId }: { key: string; clusterId: string },
): ComponentChildren {
  const path = pathTo(patterns.clusterPage, { org: organization.slug, cluster: clusterId });
  return <a href={`${path}#stacks`}>{key}</a>;
}

function agentsInWords({ agents, isExact }: { agents: number; isExact: boolean }): string {
  if (!isExact) return `More than ${agents} agents`;
  return agents === 1 ? "One agent" : `${agents} agents`;
}

function Steps({
  reason: { jobIds, missingKeys, hasMore },
  jobs,
  request,
}: {
  reason: WaitingReason & { kind: "steps" };
  jobs: ReadonlyMap<string, Job>;
  request: MemberRequest;
}) {
  const named = jobIds.flatMap((id) => jobs.get(id) ?? []);
  const parts: ComponentChildren[] = named.map((job) => (
    <a key={job.id} href={jobPath(request, job.id)}>
      {titleOf(job)}
    </a>
  ));
  if (missingKeys.length > 0)
    parts.push(
      <>
        a step with the key <CodeList names={missingKeys} />, which no step has yet
      </>,
    );
  if (hasMore) parts.push("others");
  if (parts.length === 0) return <>Waits for steps before it</>;
  return (
    <>
      Waits for{" "}
      {parts.map((part, index) => (
        <span key={index}>
          {index > 0 && (index === parts.length - 1 ? " and " : ", ")}
          {part}
        </span>
      ))}
    </>
  );
}

function Group({
  reason: {
    group: { id, name, limit, holders, ahead, hasMore },
  },
  request,
}: {
  reason: WaitingReason & { kind: "concurrency_group" };
  request: InOrganization;
}) {
  const jobs = limit === 1 ? "one job" : `${limit} jobs`;
  const named = holders.length > 0 ? holders : ahead;
  return (
    <>
      Waits for its concurrency group <a href={groupPath(request, { id })}>{name}</a>, which {jobs} may hold
      at once;{" "}
      {named.length === 0 ? (
        "jobs before it go first"
      ) : (
        <>
          {holders.length > 0 ? "it is held by" : "before it goes"}{" "}
          {named.map(({ jobId, pipelineSlug, buildNumber }, index) => (
            <span key={jobId}>
              {index > 0 && ", "}
              <a
                href={pathTo(patterns.jobPage, {
                  org: request.organization.slug,
                  slug: pipelineSlug,
                  number: String(buildNumber),
                  job: jobId,
                })}
              >
                {pipelineSlug} #{buildNumber}
              </a>
            </span>
          ))}
          {hasMore && " and others"}
        </>
      )}
    </>
  );
}

function Tags({
  reason: { queue, tags, missing, isExact },
  request,
}: {
  reason: WaitingReason & { kind: "no_agent_with_tags" };
  request: InOrganization;
}) {
  const agents = isExact ? "No connected agent" : "None of the first agents";
  return (
    <>
      {agents} of the queue {link(request, queue)} has{" "}
      {missing.length > 0 ? (
        <>
          {missing.length === 1 ? "the tag" : "the tags"} <CodeList names={missing} />
        </>
      ) : (
        <>
          all of the tags <CodeList names={tags} />
        </>
      )}
    </>
  );
}
