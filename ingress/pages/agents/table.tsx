import { hasLostJob, isPaused } from "../../../shared/agents/hand-out/hand-out.ts";
import type { JobWithOwners } from "../../../shared/agents/list-store.ts";
import type { Agent } from "../../../shared/agents/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { agentPath } from "../address/agent.ts";
import { State } from "../states/state.tsx";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { useNow } from "../ui/rendering.ts";
import { BuildName, Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import type { LoadedAgents } from "./load.ts";

/** The page of an agent has all of them. */
const maxListedTags = 10;

/** Agents of a queue or, with their queues, of a cluster. */
export function Agents({
  agents: { rows, jobs, queues },
  request,
  hasQueues = false,
}: {
  agents: LoadedAgents;
  request: MemberRequest;
  hasQueues?: boolean;
}) {
  const org = request.organization.slug;
  const columns = ["Agent", "State", ...(hasQueues ? ["Queue"] : []), "Runs", "Last seen", "Actions"];
  return (
    <Table caption="Agents" columns={columns} isList>
      {rows.map((agent) => (
        <tr key={agent.id}>
          <th scope="row" class="described">
            <a href={agentPath(org, agent)}>{agent.name}</a>
            <span class="quiet only-on-desk">
              {agent.version} on {agent.hostname}
            </span>
            <span class="only-on-desk">
              <Tags agent={agent} max={maxListedTags} />
            </span>
          </th>
          <td>
            <AgentStates agent={agent} />
          </td>
          {hasQueues && (
            <td data-label="Queue">
              <span class="long">{queues.get(agent.queueId)?.key}</span>
            </td>
          )}
          <td data-label="Runs">
            <JobOfAgent agent={agent} jobs={jobs} org={org} />
          </td>
          <td data-label="Last seen">
            <Time at={agent.seenAt} />
          </td>
          <td>
            <Buttons agent={agent} request={request} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function AgentStates({ agent }: { agent: Agent }) {
  const now = useNow();
  const isStopping = agent.stopRequestedAt !== null && agent.state !== "disconnected";
  return (
    <>
      <State state={agent.state} kind={agent.state === "connected" ? "active" : agent.state} />
      {isPaused(agent, now) && (
        <>
          {" "}
          <State state="paused" />
        </>
      )}
      {isStopping && (
        <>
          {" "}
          <State state="stopping" />
        </>
      )}
      {hasLostJob(agent) && (
        <>
          {" "}
          <State state="lost its job" kind="lost" />
        </>
      )}
    </>
  );
}

/** @param props.max default: all */
export function Tags({ agent: { metaData }, max = metaData.length }: { agent: Agent; max?: number }) {
  const more = metaData.length - max;
  return (
    <>
      {metaData.slice(0, max).map((tag) => (
        <code key={tag} class="agent-tag">
          {tag}
        </code>
      ))}
      {more > 0 && <span class="quiet">and {more} more tags</span>}
    </>
  );
}

/** The job that an agent has, or lost and may still run. */
export function JobOfAgent({
  agent,
  jobs,
  org,
}: {
  agent: Agent;
  jobs: ReadonlyMap<string, JobWithOwners>;
  org: string;
}) {
  const lost = hasLostJob(agent) ? jobs.get(agent.lostJobId ?? "") : undefined;
  if (!lost) return <JobLink placed={jobs.get(agent.jobId ?? "")} org={org} />;
  return (
    <>
      <JobLink placed={lost} org={org} /> <span class="quiet">(lost)</span>
    </>
  );
}

/** Links to the page of the job. */
export function JobLink({ placed, org }: { placed: JobWithOwners | undefined; org: string }) {
  if (!placed) return <span class="quiet">nothing</span>;
  const { job, build, pipeline } = placed;
  const number = String(build.number);
  return (
    <a class="long" href={pathTo(patterns.jobPage, { org, slug: pipeline.slug, number, job: job.id })}>
      <BuildName pipeline={pipeline.name} number={build.number} />
      {job.label && `, ${job.label}`}
    </a>
  );
}

function Buttons({ agent, request }: { agent: Agent; request: MemberRequest }) {
  const now = useNow();
  const { organization } = request;
  const path = (pattern: Parameters<typeof agentPath>[2]) => agentPath(organization.slug, agent, pattern);
  const name = <span class="hidden"> {agent.name}</span>;
  return (
    <div class="actions">
      {isPaused(agent, now) ? (
        <PostButton path={path(patterns.resumeAgentPage)} class="secondary">
          Resume{name}
        </PostButton>
      ) : (
        <PostButton path={path(patterns.pauseAgentPage)} class="secondary">
          Pause{name}
        </PostButton>
      )}
      {!agent.stopRequestedAt && (
        <PostButton path={path(patterns.stopAgentPage)} class="danger">
          Stop{name}
        </PostButton>
      )}
    </div>
  );
}
