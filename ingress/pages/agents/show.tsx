import { hasLostJob, isPaused } from "../../../shared/agents/hand-out.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { maxNoteLength } from "../../../shared/validation.ts";
import { agentPath } from "../address/agent.ts";
import { CsrfField, Field, FormError, PostButton, TextArea } from "../ui/form.tsx";
import { eventsPath } from "../ui/live.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import type { FormProblems } from "../ui/problems.ts";
import { Time } from "../ui/times.tsx";
import { type AgentDetails, loadAgentDetails } from "./load.ts";
import { AgentStates, JobOfAgent, Tags } from "./table.tsx";

/** The text typed into the form of a pause that was refused. */
export interface PauseDraft {
  note: string;
  minutes: string;
}

interface Refused {
  problems: FormProblems;
  draft?: PauseDraft;
}

/** GET /organizations/:org/agents/:agent */
export function agentPage(services: Services) {
  return memberPage(services, (request) => showAgent(services, request));
}

export async function showAgent(
  services: Services,
  request: MemberRequest,
  refused?: Refused,
): Promise<PageContent> {
  const { organization, visitor } = request;
  const details = await loadAgentDetails(services, request);
  const { agent } = details;
  const now = services.clock.now();
  const isPresent = agent.state !== "disconnected";
  return {
    title: agent.name,
    status: refused ? 422 : 200,
    within: { organization, section: "clusters" },
    ...(refused
      ? {}
      : {
          events: eventsPath(services, visitor, {
            organizations: [organization],
            topics: [`queue:${agent.queueId}`],
          }),
        }),
    content: (
      <>
        <div class="heading">
          <h1>
            {agent.name} <AgentStates agent={agent} now={now} />
          </h1>
          {isPresent && <StopButtons request={request} details={details} />}
        </div>
        {refused && <FormError problems={refused.problems} />}
        {hasLostJob(agent) && <LostJob />}
        <Pause request={request} details={details} now={now} />
        <Facts details={details} org={organization.slug} now={now} />
        {isPresent && !isPaused(agent, now) && <PauseForm request={request} refused={refused} />}
      </>
    ),
  };
}

function StopButtons({ request, details: { agent } }: { request: MemberRequest; details: AgentDetails }) {
  const { visitor, organization } = request;
  const path = agentPath(organization.slug, agent, patterns.stopAgentPage);
  return (
    <div class="actions">
      {!agent.stopRequestedAt && (
        <PostButton visitor={visitor} path={path} class="secondary">
          Stop{agent.jobId ? " after its job" : ""}
        </PostButton>
      )}
      {agent.jobId && (
        <form method="post" action={path}>
          <CsrfField visitor={visitor} />
          <input type="hidden" name="force" value="1" />
          <button type="submit" class="danger">
            Stop and cancel its job
          </button>
        </form>
      )}
    </div>
  );
}

function Pause({
  request,
  details: { agent, nameOf },
  now,
}: {
  request: MemberRequest;
  details: AgentDetails;
  now: Date;
}) {
  if (!agent.pausedAt || !isPaused(agent, now) || agent.state === "disconnected") return null;
  return (
    <div class="warning">
      <p>
        Paused by {nameOf(agent.pausedById)} <Time at={agent.pausedAt} now={now} />
        {agent.pausedUntil && (
          <>
            , to be resumed <Time at={agent.pausedUntil} now={now} />
          </>
        )}
        . It takes no job meanwhile.
      </p>
      {agent.pausedNote && <p class="note">{agent.pausedNote}</p>}
      <PostButton
        visitor={request.visitor}
        path={agentPath(request.organization.slug, agent, patterns.resumeAgentPage)}
      >
        Resume
      </PostButton>
    </div>
  );
}

function LostJob() {
  return (
    <div class="warning">
      <p>
        This agent missed heartbeats while it had a job, so the job was taken from it. It has not asked for
        another since: it may still run the command, and repeats reports that are refused. If that goes on,
        restart the agent.
      </p>
    </div>
  );
}

function PauseForm({ request, refused }: { request: MemberRequest; refused: Refused | undefined }) {
  const { visitor, organization, parameter } = request;
  const path = agentPath(organization.slug, { id: parameter("agent") }, patterns.pauseAgentPage);
  const problems = refused?.problems;
  return (
    <section class="card" aria-labelledby="pause">
      <h2 id="pause">Pause this agent</h2>
      <form method="post" action={path}>
        <CsrfField visitor={visitor} />
        <TextArea
          label="Note"
          name="note"
          value={refused?.draft?.note}
          maxLength={maxNoteLength}
          problems={problems}
          hint="Optional. The job that it has goes on."
        />
        <Field
          label="Minutes"
          name="minutes"
          value={refused?.draft?.minutes}
          inputMode="numeric"
          hint="Optional. Without it, the pause lasts until somebody resumes the agent."
          problems={problems}
        />
        <p class="actions">
          <button type="submit">Pause</button>
        </p>
      </form>
    </section>
  );
}

function Facts({
  details: { agent, jobs, queue, cluster },
  org,
  now,
}: {
  details: AgentDetails;
  org: string;
  now: Date;
}) {
  return (
    <dl class="facts panel">
      <dt>Runs</dt>
      <dd>
        <JobOfAgent agent={agent} jobs={jobs} org={org} />
      </dd>
      <dt>Last seen</dt>
      <dd>
        <Time at={agent.seenAt} now={now} />
      </dd>
      <dt>Queue</dt>
      <dd>
        {queue?.key}
        {cluster && ` in ${cluster.name}`}
      </dd>
      <dt>Host</dt>
      <dd>{agent.hostname || "unknown"}</dd>
      <dt>Version</dt>
      <dd>{agent.version}</dd>
      <dt>System</dt>
      <dd>{[agent.os, agent.arch].filter(Boolean).join(", ")}</dd>
      <dt>Address</dt>
      <dd>{agent.ip}</dd>
      {agent.metaData.length > 0 && (
        <>
          <dt>Tags</dt>
          <dd>
            <Tags agent={agent} />
          </dd>
        </>
      )}
      <dt>Registered</dt>
      <dd>
        <Time at={agent.createdAt} now={now} />
      </dd>
      {agent.lastJobFinishedAt && (
        <>
          <dt>Last job ended</dt>
          <dd>
            <Time at={agent.lastJobFinishedAt} now={now} />
          </dd>
        </>
      )}
    </dl>
  );
}
