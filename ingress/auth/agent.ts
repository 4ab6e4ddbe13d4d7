import type { H3Event } from "h3";
import { type Attempt, attemptOf } from "../../shared/agents/lease.ts";
import { findJobWithBuild } from "../../shared/agents/lease-store.ts";
import { requireStack } from "../../shared/agents/stacks/register.ts";
import { type Agent, findAgent, listAgentsByTokenHash } from "../../shared/agents/store.ts";
import { findRegistrar, type Registrar } from "../../shared/agents/tokens.ts";
import { findJobPrincipal } from "../../shared/builds/meta-data/meta-data.ts";
import { isLeased } from "../../shared/builds/rows/is-leased.ts";
import { hashToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { isId } from "../../shared/ids.ts";
import { notFound, Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { readOnce, readTogether } from "../../shared/sharing/gatherer.ts";
import { limitJob, limitStack } from "../http/limits/limits.ts";
import { pathParameter, pathText } from "../http/routing.ts";
import type { Attempts } from "./attempts.ts";
import type { Authenticators, Callers, DataCaller } from "./callers.ts";

// Agents authenticate with three kinds of tokens: of registration, of a session, of a job's attempt. Agents older than
// 2021 use their session's token for jobs too.

/** An id that no agent has, for the lease of a job that went back to its queue. Postgres compares ids alone. */
const noAgent = "00000000-0000-7000-8000-000000000000";

/** The authenticators of the agent API. */
export function agentAuthenticators(
  services: Services,
  attempts: Attempts,
): Omit<Authenticators, "accessToken"> {
  const ofAgent = (agent: Agent) => ({ agent, organizationId: agent.organizationId });
  const findSession = readTogether<Agent>(
    (hashes) => listAgentsByTokenHash(services.db, hashes),
    ({ tokenHash }) => tokenHash,
  );
  // Many agents have one token.
  const findOwners = readOnce((token: string) => findRegistrar(services, token));
  const own: AgentServices = { ...services, findSession, findRegistrar: findOwners };
  return {
    registrar: (event) => requireRegistrar(own, event),
    stack: (event) => requireStackCaller(own, event),
    pinging: async (event) => ({ sessionToken: requireSessionToken(services, event) }),
    session: async (event) => ofAgent(await requireSession(own, event)),
    agentOrJob: async (event) => ofAgent(await requireAgentOrJob(own, event)),
    job: (event) => requireJob(own, event),
    lease: (event) => requireLease(own, event),
    attempt: (event) => requireAttempt(own, attempts, event),
    dataOfJob: (event) => requireDataCaller(own, event, "job"),
    dataOfBuild: (event) => requireDataCaller(own, event, "build"),
    insideJob: (event) => requireInsideJob(own, event),
  };
}

interface AgentServices extends Services {
  findSession(tokenHash: string): Promise<Agent | undefined>;
  findRegistrar(token: string): Promise<Registrar | undefined>;
}

/** @throws Refusal 401 */
async function requireRegistrar(services: AgentServices, event: H3Event): Promise<Callers["registrar"]> {
  const token = agentToken(event);
  const registrar = token ? await services.findRegistrar(token) : undefined;
  if (!registrar) throw unauthenticated(services, "a valid agent token");
  return { registrar, organizationId: registrar.organization.id };
}

/** @throws Refusal 401; 404 for a stack that the token's cluster does not have; 429 */
async function requireStackCaller(services: AgentServices, event: H3Event): Promise<Callers["stack"]> {
  const caller = await requireRegistrar(services, event);
  const stack = await requireStack(services, caller.registrar, pathText(event, "key") ?? "");
  await limitStack(services, event, stack.id);
  return { ...caller, stack };
}

/** @throws Refusal 401 */
async function requireAgentOrJob(services: AgentServices, event: H3Event): Promise<Agent> {
  const token = agentToken(event) ?? "";
  if (!isWellFormedToken("job", token)) return requireSession(services, event);
  const principal = await findJobPrincipal(services, token);
  const agentId = principal?.isLeased ? principal.agentId : null;
  const agent = agentId ? await findAgent(services.db, agentId) : undefined;
  if (!agent) throw unauthenticated(services, "a valid session or job token");
  return agent;
}

/** @throws Refusal 401; 404 for any other job */
async function requireAttempt(
  services: AgentServices,
  attempts: Attempts,
  event: H3Event,
): Promise<Callers["attempt"]> {
  const token = agentToken(event) ?? "";
  // A session has one job after the other.
  const isOfJob = isWellFormedToken("job", token);
  const known = isOfJob ? attempts.find(token) : undefined;
  const attempt = known ?? (await requireJobAttempt(services, event));
  if (isOfJob && !known) attempts.remember(token, attempt);
  if (attempt.lease.jobId !== pathParameter(event, "id")) throw notFound("job");
  return { attempt, organizationId: attempt.organizationId };
}

async function requireJobAttempt(services: AgentServices, event: H3Event): Promise<Attempt> {
  const { build, lease } = await requireJob(services, event);
  return attemptOf(build, lease);
}

/** @throws Refusal 401; 404 for any other job, and of a stale lease */
async function requireLease(services: AgentServices, event: H3Event): Promise<Callers["lease"]> {
  const caller = await requireJob(services, event);
  if (!caller.isLeased) throw notFound("job");
  return caller;
}

/** @throws Refusal 401; 404 for any other job */
async function requireJob(services: AgentServices, event: H3Event): Promise<Callers["job"]> {
  const id = pathParameter(event, "id") ?? "";
  const token = agentToken(event) ?? "";
  const found = isWellFormedToken("job", token)
    ? await requireJobOfToken(services, token, id)
    : await requireJobOfSession(services, await requireSession(services, event), id);
  return { ...found, isLeased: isLeased(found.job, found.lease), organizationId: found.build.organizationId };
}

async function requireJobOfToken(services: Services, token: string, id: string) {
  const principal = await findJobPrincipal(services, token);
  if (principal?.attempt == null) throw unauthenticated(services, "a valid session or job token");
  const { job, build, attempt } = principal;
  if (job.id !== id) throw notFound("job");
  // A lost job has no agent, or another one: the attempt then shows a stale lease.
  const { agentId } = job;
  const agent = agentId ? await findAgent(services.db, agentId) : undefined;
  return { job, build, lease: { jobId: id, agentId: agentId ?? noAgent, attempt }, agent };
}

/** The job that an agent has or had, also one that it lost and may still run: its lease is stale. */
async function requireJobOfSession({ db }: Services, agent: Agent, id: string) {
  const found = isId(id) ? await findJobWithBuild(db, { id }) : undefined;
  if (!found || (found.job.agentId !== agent.id && agent.lostJobId !== id)) throw notFound("job");
  return { ...found, agent, lease: { jobId: id, agentId: agent.id, attempt: found.job.attempt } };
}

/**
 * A token of a job, or the session of an agent that has one.
 * @throws Refusal 401; 404 for any other job or build than the token's; 429
 */
async function requireDataCaller(
  services: AgentServices,
  event: H3Event,
  owner: "job" | "build",
): Promise<Callers["dataOfJob"]> {
  const caller = await findDataCaller(services, event);
  const ownId = owner === "job" ? caller?.jobId : caller?.build.id;
  if (!caller || pathParameter(event, "id") !== ownId) throw notFound(owner);
  await limitJob(services, "meta-data", caller.jobId);
  return { ...caller, organizationId: caller.build.organizationId };
}

/** @throws Refusal 401; 404 for a session whose agent has no job; 429 */
async function requireInsideJob(services: AgentServices, event: H3Event): Promise<Callers["insideJob"]> {
  const caller = await findDataCaller(services, event);
  if (!caller) throw notFound("job");
  await limitJob(services, "meta-data", caller.jobId);
  return { ...caller, organizationId: caller.build.organizationId };
}

/** Undefined for a session whose agent has no job. */
async function findDataCaller(services: AgentServices, event: H3Event): Promise<DataCaller | undefined> {
  const token = agentToken(event) ?? "";
  if (isWellFormedToken("agentSession", token))
    return findJobOfSession(services, await requireSession(services, event));
  const principal = await findJobPrincipal(services, token);
  const isGood = principal && (principal.attempt === null || principal.isLeased);
  if (!isGood) throw unauthenticated(services, "a valid job token");
  const { jobId, build, agentId, attempt, readOnly } = principal;
  const mayWrite = !readOnly && agentId !== null && attempt !== null;
  return { jobId, build, lease: mayWrite ? { jobId, agentId, attempt } : undefined };
}

async function findJobOfSession({ db }: Services, agent: Agent): Promise<DataCaller | undefined> {
  const found = agent.jobId ? await findJobWithBuild(db, { id: agent.jobId }) : undefined;
  if (!found || found.job.agentId !== agent.id) return undefined;
  const { job, build } = found;
  const lease = { jobId: job.id, agentId: agent.id, attempt: job.attempt };
  return isLeased(job, lease) ? { jobId: job.id, build, lease } : undefined;
}

/** @throws Refusal 401 */
async function requireSession(services: AgentServices, event: H3Event): Promise<Agent> {
  const agent = await services.findSession(hashToken(requireSessionToken(services, event)));
  if (!agent || agent.state === "disconnected") throw sessionEnded(services);
  return agent;
}

/** Returns true if the caller's token is of a session that is over, and not deleted yet. */
export async function hasSessionEnded(services: Services, event: H3Event): Promise<boolean> {
  const token = agentToken(event) ?? "";
  if (!isWellFormedToken("agentSession", token)) return false;
  const [agent] = await listAgentsByTokenHash(services.db, [hashToken(token)]);
  return agent?.state === "disconnected";
}

/** Returns the token of a session as it was sent. @throws Refusal 401 */
function requireSessionToken(services: Services, event: H3Event): string {
  const token = agentToken(event);
  if (!token || !isWellFormedToken("agentSession", token)) throw sessionEnded(services);
  return token;
}

function agentToken(event: H3Event): string | undefined {
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
