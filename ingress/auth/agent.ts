import type { H3Event } from "h3";
import { findJobWithBuild, type Lease } from "../../shared/agents/lease-store.ts";
import { type Agent, findAgent, listAgentsByTokenHash } from "../../shared/agents/store.ts";
import { findRegistrar, type Registrar } from "../../shared/agents/tokens.ts";
import { findJobPrincipal, type JobPrincipal } from "../../shared/builds/meta-data.ts";
import type { Build, Job } from "../../shared/builds/store.ts";
import { hashToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { isId } from "../../shared/ids.ts";
import type { Services } from "../../shared/process/services.ts";
import { notFound, Refusal } from "../../shared/refusal.ts";
import { leasedJobStates } from "../../shared/vocabulary.ts";
import { pathParameter } from "../http/routing.ts";

// Agents authenticate with three kinds of tokens: of registration, of a session, of a job's attempt. Agents older than
// 2021 use their session's token for jobs too.

/** A call about a job by the agent that has, or had, it. */
export interface JobCall {
  job: Job;
  build: Build;
  /** The attempt that the caller stands for. */
  lease: Lease;
  /** Undefined if the job went back to its queue. */
  agent: Agent | undefined;
}

/** The agent in the lease of a job that went back to its queue. */
const noAgent = "";

/** @throws Refusal 401 */
export async function requireRegistrar(services: Services, event: H3Event): Promise<Registrar> {
  const token = agentToken(event);
  const registrar = token ? await findRegistrar(services, token) : undefined;
  if (!registrar) throw unauthenticated(services, "a valid agent token");
  return registrar;
}

/** Returns the token of a session as it was sent. @throws Refusal 401 */
export function requireSessionToken(services: Services, event: H3Event): string {
  const token = agentToken(event);
  if (!token || !isWellFormedToken("agentSession", token)) throw sessionEnded(services);
  return token;
}

/** The agent of a session that has not ended. @throws Refusal 401 */
export async function requireAgentSession(services: Services, event: H3Event): Promise<Agent> {
  const agent = await findSession(services, requireSessionToken(services, event));
  if (!agent) throw sessionEnded(services);
  return agent;
}

/** The agent itself, also from inside its job. @throws Refusal 401 */
export async function requireAgentOrJob(services: Services, event: H3Event): Promise<Agent> {
  const token = agentToken(event) ?? "";
  if (!isWellFormedToken("job", token)) return requireAgentSession(services, event);
  const principal = await findJobPrincipal(services, token);
  const agentId = principal?.isLeased ? principal.agentId : null;
  const agent = agentId ? await findAgent(services.db, agentId) : undefined;
  if (!agent) throw unauthenticated(services, "a valid session or job token");
  return agent;
}

/**
 * The caller of a job's route: a session that has or had the job, or a token of one of its attempts.
 * @throws Refusal 401; 404 for any other job
 */
export async function requireJobCall(services: Services, event: H3Event): Promise<JobCall> {
  const id = pathParameter(event, "id") ?? "";
  const token = agentToken(event) ?? "";
  const { db } = services;
  if (isWellFormedToken("job", token)) {
    const principal = await findJobPrincipal(services, token);
    if (principal?.attempt == null) throw unauthenticated(services, "a valid session or job token");
    const { job, build, attempt } = principal;
    if (job.id !== id) throw notFound("job");
    // A lost job has no agent, or another one: the attempt then shows a stale lease.
    const { agentId } = job;
    const agent = agentId ? await findAgent(db, agentId) : undefined;
    return { job, build, lease: { jobId: id, agentId: agentId ?? noAgent, attempt }, agent };
  }
  const agent = await requireAgentSession(services, event);
  const found = await findJobOf(services, agent, id);
  return { ...found, agent, lease: { jobId: id, agentId: agent.id, attempt: found.job.attempt } };
}

/** @throws Refusal 404 of a stale lease too */
export async function requireLease(services: Services, event: H3Event): Promise<JobCall> {
  const call = await requireJobCall(services, event);
  if (!isLeased(call)) throw notFound("job");
  return call;
}

/** Returns true while the caller's attempt is the present one and has not ended. */
export function isLeased({ job, lease }: Pick<JobCall, "job" | "lease">): boolean {
  const isPresent = job.agentId === lease.agentId && job.attempt === lease.attempt;
  return isPresent && job.acceptedAt !== null && leasedJobStates.includes(job.state);
}

/** The job that an agent has or had, also one that it lost and may still run: its lease is stale. */
async function findJobOf({ db }: Services, agent: Agent, id: string) {
  const found = isId(id) ? await findJobWithBuild(db, id) : undefined;
  if (!found || (found.job.agentId !== agent.id && agent.lostJobId !== id)) throw notFound("job");
  return found;
}

/**
 * Authenticates a call for a build's meta-data: a token of a job, or the session of an agent.
 * @returns undefined for a session whose agent has no job
 * @throws Refusal 401
 */
export async function findJobOfCaller(services: Services, event: H3Event): Promise<JobPrincipal | undefined> {
  const token = agentToken(event) ?? "";
  if (isWellFormedToken("agentSession", token))
    return findPrincipalOfSession(services, await requireAgentSession(services, event));
  const principal = await findJobPrincipal(services, token);
  const isGood = principal && (principal.attempt === null || principal.isLeased);
  if (!isGood) throw unauthenticated(services, "a valid job token");
  return principal;
}

async function findPrincipalOfSession(services: Services, agent: Agent): Promise<JobPrincipal | undefined> {
  const found = agent.jobId ? await findJobWithBuild(services.db, agent.jobId) : undefined;
  if (!found || found.job.agentId !== agent.id) return undefined;
  const { job, build } = found;
  const lease = { jobId: job.id, agentId: agent.id, attempt: job.attempt };
  if (!isLeased({ job, lease })) return undefined;
  return { ...lease, job, isLeased: true, readOnly: false, build };
}

/** Returns true if the caller's token is of a session that is over, and not deleted yet. */
export async function hasSessionEnded({ db }: Services, event: H3Event): Promise<boolean> {
  const token = agentToken(event) ?? "";
  if (!isWellFormedToken("agentSession", token)) return false;
  const [agent] = await listAgentsByTokenHash(db, { hashes: [hashToken(token)] });
  return agent?.state === "disconnected";
}

async function findSession({ db }: Services, token: string): Promise<Agent | undefined> {
  if (!isWellFormedToken("agentSession", token)) return undefined;
  const [agent] = await listAgentsByTokenHash(db, { hashes: [hashToken(token)] });
  return agent?.state === "disconnected" ? undefined : agent;
}

export function agentToken(event: H3Event): string | undefined {
  return /^(?:Token|Bearer) +(\S+)$/i.exec(event.req.headers.get("authorization") ?? "")?.[1];
}

export function sessionEnded(services: Services): Refusal {
  return unauthenticated(services, "the token of a session that has not ended");
}

function unauthenticated({ config }: Services, what: string): Refusal {
  return new Refusal(401, `Authentication required. Please supply ${what}`, {
    headers: { "WWW-Authenticate": `Token realm="${config.serviceName}"` },
  });
}
