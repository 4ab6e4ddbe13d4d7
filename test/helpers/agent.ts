import { asOperator } from "../../shared/accounts/organizations.ts";
import type { HandOut } from "../../shared/agents/hand-out/hand-out.ts";
import { openRegister } from "../../shared/agents/register.ts";
import { createAgentToken, findRegistrar } from "../../shared/agents/tokens.ts";
import type { Job } from "../../shared/builds/rows/job-store.ts";
import { findJob } from "../../shared/builds/rows/progress-store.ts";
import type { Cluster } from "../../shared/clusters/store.ts";
import type { Services } from "../../shared/services/services.ts";
import { openApi } from "./api.ts";
import type { TestDatabase } from "./databases.ts";
import { type Answer, request } from "./http.ts";
import type { World } from "./world.ts";

/** An agent that sends the calls which a test asks for. */
export interface ScriptedAgent {
  id: string;
  name: string;
  token: string;
  send(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  ping(): Promise<{ action: string; job?: { id: string } | null; message?: string }>;
  /** Pings, and returns the id of the job that it was offered. */
  offered(): Promise<string | undefined>;
  /** Accepts and starts a job. */
  begin(jobId: string): Promise<{ token: string; env: Record<string, string> }>;
  finish(jobId: string, exitStatus?: number, token?: string): Promise<Answer>;
  /** Takes the next job and ends it. */
  runOne(exitStatus?: number): Promise<string | undefined>;
}

export async function agentTokenOf(
  { services }: Pick<World, "services">,
  cluster: Cluster,
  more: { queueId?: string; expiresAt?: Date } = {},
): Promise<string> {
  const [organization] = await services.db.select().from(services.db.tables.organizations);
  if (!organization) throw new Error("There is no organization.");
  const actor = await asOperator(services.db, organization);
  const { token } = await createAgentToken(services, actor, cluster, {
    description: "test",
    queueId: more.queueId ?? null,
    expiresAt: more.expiresAt ?? null,
  });
  return token;
}

/** Like `openApi`, with a token that registers agents of acme's cluster. */
export async function openAgentApi(database: TestDatabase, settings: Record<string, string> = {}) {
  const api = await openApi(database, settings);
  const agentToken = await agentTokenOf(api.world, api.acme.cluster);

  /** Makes a build whose commands run on a queue of its own. Objects that name no kind of step are commands. */
  const buildOnQueue = async (...steps: (string | object)[]) => {
    const queue = await api.newQueue();
    const onQueue = (step: string | { agents?: object }) =>
      typeof step === "string" || kinds.some((kind) => kind in step)
        ? step
        : { command: "make", ...step, agents: { queue: queue.key, ...step.agents } };
    const pipeline = await api.newPipeline({ steps: steps.map(onQueue) });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const read = async (query = "") => (await api.send("GET", path + query)).body;
    return {
      queue,
      pipeline,
      path,
      read,
      /** Of its jobs, in their order. */
      states: async (): Promise<string[]> => (await read()).jobs.map((job: { state: string }) => job.state),
      newAgent: ({ meta_data = [], ...given }: Partial<typeof registration> & Record<string, unknown> = {}) =>
        startAgent(api.world.url, agentToken, {
          ...given,
          meta_data: [`queue=${queue.key}`, ...meta_data],
        }),
    };
  };
  return { ...api, agentToken, buildOnQueue };
}

const kinds = ["type", "wait", "block", "input", "trigger", "group"];

export const registration = {
  name: "agent-1",
  hostname: "host",
  os: "Debian",
  arch: "amd64",
  script_eval_enabled: true,
  ignore_in_dispatches: false,
  version: "3.137.0",
  build: "1",
  meta_data: [] as string[],
  pid: 1,
  features: [],
};

/** Sends one call as an agent does. */
export function sendAsAgent(
  url: string,
  token: string,
  { method, path, body }: { method: string; path: string; body?: unknown },
): Promise<Answer> {
  return request(`${url}/v3${path}`, {
    method,
    headers: {
      Authorization: `Token ${token}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: JSON.stringify(body),
  });
}

/** Registers and connects an agent. */
export async function startAgent(
  url: string,
  registrationToken: string,
  given: Partial<typeof registration> & Record<string, unknown> = {},
): Promise<ScriptedAgent> {
  const registered = await sendAsAgent(url, registrationToken, {
    method: "POST",
    path: "/register",
    body: { ...registration, ...given },
  });
  if (registered.status !== 200) throw new Error(`register: ${registered.status} ${registered.text}`);
  const { id, name, access_token } = registered.body;
  const send = (method: string, path: string, body?: unknown, token = access_token) =>
    sendAsAgent(url, token, { method, path, body });
  const must = async (answer: Promise<Answer>) => {
    const { status, text, body } = await answer;
    if (status !== 200) throw new Error(`${status} ${text}`);
    return body;
  };
  await must(send("POST", "/connect"));

  const agent: ScriptedAgent = {
    id,
    name,
    token: access_token,
    send,
    ping: () => must(send("GET", "/ping")),
    offered: async () => (await agent.ping()).job?.id,
    async begin(jobId) {
      const job = await must(send("PUT", `/jobs/${jobId}/accept`));
      await must(send("PUT", `/jobs/${jobId}/start`, { started_at: new Date().toISOString() }, job.token));
      return job;
    },
    finish: (jobId, exitStatus = 0, token = access_token) =>
      send(
        "PUT",
        `/jobs/${jobId}/finish`,
        { exit_status: String(exitStatus), finished_at: new Date().toISOString(), chunks_failed_count: 0 },
        token,
      ),
    async runOne(exitStatus) {
      const jobId = await agent.offered();
      if (jobId === undefined) return undefined;
      const { token } = await agent.begin(jobId);
      await must(agent.finish(jobId, exitStatus, token));
      return jobId;
    },
  };
  return agent;
}

/** A process, and its hand-out of jobs. */
export interface HandingOut {
  services: Services;
  handOut: HandOut;
}

/** Takes jobs of a queue without HTTP. Each call is by an agent of its own, at the process that it names. */
export async function openTaker(world: Pick<World, "services">, cluster: Cluster, queueId: string) {
  const token = await agentTokenOf(world, cluster, { queueId });
  const registrar = await findRegistrar(world.services, token);
  if (!registrar) throw new Error("The token registers no agent.");
  return async ({ services, handOut }: HandingOut): Promise<Job | undefined> => {
    const { accessToken } = await openRegister(services)(registrar, domainRegistration);
    const answer = await handOut.ping(accessToken);
    if (answer.action !== "run") return undefined;
    return services.db.transaction((tx) => findJob(tx, answer.jobId));
  };
}

const domainRegistration = {
  name: "agent",
  hostname: "host",
  os: "Debian",
  arch: "amd64",
  version: "3.137.0",
  build: "1",
  pid: null,
  metaData: [],
  priority: null,
  ignoreInDispatches: false,
  ip: "::1",
  userAgent: null,
};
