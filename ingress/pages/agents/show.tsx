import { hasLostJob, isPaused } from "../../../shared/agents/hand-out/hand-out.ts";
import { isDescribed } from "../../../shared/agents/lost.ts";
import type { Agent } from "../../../shared/agents/store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxNoteLength } from "../../../shared/validation.ts";
import { agentPath } from "../address/agent.ts";
import { CsrfField, Field, FormError, PostButton, PostForm, TextArea } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import type { FormProblems } from "../ui/problems.ts";
import { useNow } from "../ui/rendering.ts";
import { Fact } from "../ui/tables.tsx";
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
export const agentPage = memberPage((services, request) => showAgent(services, request));

export async function showAgent(
  services: Services,
  request: MemberRequest,
  refused?: Refused,
): Promise<PageContent> {
  const { organization } = request;
  const details = await loadAgentDetails(services, request);
  const { agent } = details;
  const now = services.clock.now();
  const isPresent = agent.state !== "disconnected";
  return {
    title: agent.name,
    status: refused ? 422 : 200,
    section: "clusters",
    topics: [`queue:${agent.queueId}`],
    content: (
      <>
        <div class="heading">
          <h1>
            {agent.name} <AgentStates agent={agent} />
          </h1>
          {isPresent && <StopButtons request={request} details={details} />}
        </div>
        {refused && <FormError problems={refused.problems} />}
        {hasLostJob(agent) && <LostJob />}
        <Pause request={request} details={details} />
        <Facts details={details} org={organization.slug} />
        {isPresent && !isPaused(agent, now) && <PauseForm request={request} refused={refused} />}
      </>
    ),
  };
}

function StopButtons({ request, details: { agent } }: { request: MemberRequest; details: AgentDetails }) {
  const { organization } = request;
  const path = agentPath(organization.slug, agent, patterns.stopAgentPage);
  return (
    <div class="actions">
      {!agent.stopRequestedAt && (
        <PostButton path={path} class="secondary">
          Stop{agent.jobId ? " after its job" : ""}
        </PostButton>
      )}
      {agent.jobId && (
        <form method="post" action={path}>
          <CsrfField />
          <input type="hidden" name="force" value="1" />
          <button type="submit" class="danger">
            Stop and cancel its job
          </button>
        </form>
      )}
    </div>
  );
}

function Pause({ request, details: { agent, nameOf } }: { request: MemberRequest; details: AgentDetails }) {
  const now = useNow();
  if (!agent.pausedAt || !isPaused(agent, now) || agent.state === "disconnected") return null;
  return (
    <div class="warning">
      <p>
        Paused by {nameOf(agent.pausedById)} <Time at={agent.pausedAt} />
        {agent.pausedUntil && (
          <>
            , to be resumed <Time at={agent.pausedUntil} />
          </>
        )}
        . It takes no job meanwhile.
      </p>
      {agent.pausedNote && <p class="note">{agent.pausedNote}</p>}
      <PostButton path={agentPath(request.organization.slug, agent, patterns.resumeAgentPage)}>
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
  const { organization, parameter } = request;
  const path = agentPath(organization.slug, { id: parameter("agent") }, patterns.pauseAgentPage);
  const problems = refused?.problems;
  return (
    <section class="card" aria-labelledby="pause">
      <h2 id="pause">Pause this agent</h2>
      <PostForm path={path} button="Pause">
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
      </PostForm>
    </section>
  );
}

function Description({ agent }: { agent: Agent }) {
  return (
    <>
      <Fact name="Host" value={agent.hostname || "unknown"} />
      <Fact name="Version" value={agent.version} />
      <Fact name="System" value={[agent.os, agent.arch].filter(Boolean).join(", ")} />
      <Fact name="Address" value={agent.ip} />
      <Fact name="Tags" value={agent.metaData.length > 0 && <Tags agent={agent} />} />
    </>
  );
}

function Facts({ details: { agent, jobs, queue, cluster }, org }: { details: AgentDetails; org: string }) {
  return (
    <dl class="facts panel">
      <Fact name="Runs" value={<JobOfAgent agent={agent} jobs={jobs} org={org} />} />
      <Fact name="Last seen" value={<Time at={agent.seenAt} />} />
      <Fact name="Queue" value={[queue?.key, cluster && ` in ${cluster.name}`]} />
      {isDescribed(agent) ? (
        <Description agent={agent} />
      ) : (
        <Fact name="Host, version and tags" value="no longer kept: the agent ended more than a day ago" />
      )}
      <Fact name="Registered" value={<Time at={agent.createdAt} />} />
      <Fact name="Last job ended" value={agent.lastJobFinishedAt && <Time at={agent.lastJobFinishedAt} />} />
    </dl>
  );
}
