import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { secondMs } from "../../shared/durations.ts";
import type { Cgroup } from "./command/cgroups.ts";
import { keepAlive } from "./heartbeats.ts";
import { type JobContext, runJob } from "./job/job.ts";
import { AgentError, type Print, plain, type Stop } from "./terminal.ts";
import { architecture, CallFailed, type Client, describe, isRetryable, version } from "./wire/client.ts";
import {
  connect,
  disconnect,
  type PingAnswer,
  pauseAgent,
  ping,
  type Registration,
  readIdentity,
  register,
} from "./wire/requests.ts";
import { onAnyError, retry, waits, whenRetryable } from "./wire/retry.ts";

export interface SessionOptions {
  endpoint: string;
  /** The registration token. */
  token: string;
  name: string;
  /** Such as `queue=default`. */
  tags: string[];
  buildPath: string;
  disconnectAfterJob: boolean;
  /** The id of the only job that it runs. */
  acquireJob?: string | undefined;
  /** The agent takes no job and shows the reason. */
  pausedBecause?: string | undefined;
  /** Makes the group that limits a job. */
  limit?: ((jobId: string) => Cgroup) | undefined;
  print: Print;
  stop: Stop;
}

/**
 * Registers one agent and runs jobs until it is to stop or the server disconnects it.
 * @returns true if it has run a job
 * @throws AgentError if the server refuses it
 */
export async function runSession(options: SessionOptions): Promise<boolean> {
  const { stop, print, pausedBecause } = options;
  const registration = await registerAgent(options);
  if (!registration) return false;
  const client = {
    endpoint: trimSlash(registration.endpoint || options.endpoint),
    token: registration.access_token,
  };
  const ended = new AbortController();
  const refused = new AbortController();
  try {
    await untilStopped(stop, () =>
      retry(() => connect(client, stop.afterJob), {
        waitsMs: waits.patient,
        isRetryable: whenRetryable,
        signal: stop.afterJob,
      }),
    );
    if (stop.afterJob.aborted) return false;
    print(`Connected as ${registration.name}${await placeInWords(options, registration)}.`);
    if (pausedBecause) await untilStopped(stop, () => pauseAgent(client, pausedBecause));
    keepAlive({
      client,
      intervalMs: registration.heartbeat_interval * secondMs,
      ended: ended.signal,
      print,
      onRefused: () => refused.abort(),
    });
    return await work(options, { client, registration, refused: refused.signal });
  } finally {
    ended.abort();
    await leave(client, print);
  }
}

/** Says where the agent takes jobs. Empty if the server does not say whose the registration token is. */
async function placeInWords(
  { endpoint, token, stop }: SessionOptions,
  { meta_data: tags = [] }: Registration,
): Promise<string> {
  const identity = await readIdentity({ endpoint, token }, stop.afterJob).catch(() => undefined);
  if (!identity) return "";
  const { organization_slug: organization, cluster_name: cluster } = identity;
  const queue = tags.find((tag) => tag.startsWith("queue="))?.replace("=", " ");
  const parts = [`the organization ${organization}`, cluster && `cluster ${cluster}`, queue];
  return ` to ${parts.filter(Boolean).join(", ")}`;
}

interface Session {
  client: Client;
  registration: Registration;
  /** Aborted when a heartbeat is refused. */
  refused: AbortSignal;
}

async function work(options: SessionOptions, session: Session): Promise<boolean> {
  const { stop, disconnectAfterJob, print, buildPath, pausedBecause, limit } = options;
  const { registration, refused } = session;
  const stopping = AbortSignal.any([stop.afterJob, refused]);
  const intervalMs = registration.ping_interval * secondMs;
  const context = {
    client: session.client,
    statusIntervalMs: registration.job_status_interval * secondMs,
    buildPath,
    disconnectAfterJob,
    limit,
    print,
    stop: AbortSignal.any([stop.now, refused]),
  };
  if (options.acquireJob) return acquireOne(context, options.acquireJob);
  const printOnce = onlyChanges(print);
  let jobs = 0;
  while (!stopping.aborted) {
    const answer = await pingOnce(context.client, stopping, printOnce);
    if (answer?.action === "disconnect") break;
    if (answer?.endpoint) context.client = { ...context.client, endpoint: trimSlash(answer.endpoint) };
    const job = pausedBecause || answer?.action === "pause" ? undefined : answer?.job;
    const hasRun = job && (await runJob(context, job.id));
    if (hasRun) jobs += 1;
    if (hasRun && disconnectAfterJob) break;
    if (!hasRun) await pause(intervalMs * (1 + Math.random()), stopping);
  }
  if (refused.aborted) throw new AgentError("The server refused a heartbeat: this session is over.");
  return jobs > 0;
}

/** @throws AgentError if the server gives the job to nobody, or to another agent */
async function acquireOne(context: JobContext, jobId: string): Promise<boolean> {
  if (await runJob({ ...context, acquires: true, disconnectAfterJob: true }, jobId)) return true;
  throw new AgentError(`Job ${jobId} could not be acquired.`);
}

/** Undefined if the server cannot answer now. @throws AgentError if it refuses */
async function pingOnce(
  client: Client,
  stopping: AbortSignal,
  print: Print,
): Promise<PingAnswer | undefined> {
  try {
    const answer = await ping(client, stopping);
    if (answer.message) print(plain(answer.message));
    return answer;
  } catch (error) {
    if (stopping.aborted) return undefined;
    if (!isRetryable(error)) throw new AgentError(`The server ended this session: ${describe(error)}.`);
    print(`The server does not answer pings: ${describe(error)}`);
    return undefined;
  }
}

/** Undefined if the agent was stopped meanwhile. */
function registerAgent(options: SessionOptions): Promise<Registration | undefined> {
  const { endpoint, token, name, tags, pausedBecause, acquireJob, stop, print } = options;
  const body = {
    name,
    hostname: hostname(),
    os: process.platform,
    arch: architecture,
    script_eval_enabled: true,
    ignore_in_dispatches: pausedBecause !== undefined || acquireJob !== undefined,
    version,
    build: "signalbox",
    meta_data: tags,
    pid: process.pid,
    features: [],
  };
  let fault: string | undefined; // said once: a server that starts takes several attempts
  return untilStopped(stop, () =>
    retry(() => register({ endpoint, token }, body, stop.afterJob), {
      waitsMs: waits.patient,
      isRetryable: whenRetryable,
      signal: stop.afterJob,
      onRetry: (error) => {
        if (describe(error) !== fault) print(`Waiting until the server takes this agent: ${describe(error)}`);
        fault = describe(error);
      },
    }),
  );
}

async function untilStopped<T>({ afterJob }: Stop, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (afterJob.aborted) return undefined;
    if (!(error instanceof CallFailed)) throw error;
    const problem = isRetryable(error) ? "The server cannot be reached" : "The server refuses this agent";
    throw new AgentError(`${problem}: ${describe(error)}.`);
  }
}

async function leave(client: Client, print: Print): Promise<void> {
  try {
    await retry(() => disconnect(client), { waitsMs: waits.disconnect, isRetryable: onAnyError });
    print("Disconnected.");
  } catch (error) {
    print(`Could not disconnect: ${describe(error)}`);
  }
}

/** Skips a line that repeats the one before. */
function onlyChanges(print: Print): Print {
  let last = "";
  return (line) => {
    if (line !== last) print(line);
    last = line;
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

function trimSlash(endpoint: string): string {
  return endpoint.replace(/\/+$/, "");
}
