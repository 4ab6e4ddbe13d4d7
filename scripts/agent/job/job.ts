import type { Cgroup } from "../command/cgroups.ts";
import type { Print } from "../terminal.ts";
import { CallFailed, type Client, describe } from "../wire/client.ts";
import { type AcceptedJob, accept, acquire, type Finish, finish, start } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { LogSender } from "./log.ts";
import { pollState } from "./state.ts";
import { type Result, runSteps } from "./steps.ts";

export interface JobContext {
  /** The session's client. */
  client: Client;
  statusIntervalMs: number;
  buildPath: string;
  disconnectAfterJob: boolean;
  /** Asks for the job by its id: no ping has offered it. */
  acquires?: boolean;
  /** Makes the group that limits a job. */
  limit?: ((jobId: string) => Cgroup) | undefined;
  print: Print;
  /** Cancels the job: the agent has to stop. */
  stop: AbortSignal;
}

/** Why a job is canceled, in the words of the wire. */
export type CancelReason = "cancel" | "agent_stop";

/** @returns false if the server gave the job to nobody or refused its start */
export async function runJob(context: JobContext, jobId: string): Promise<boolean> {
  const job = await acceptJob(context, jobId);
  if (!job) return false;
  const client = { ...context.client, token: job.token || context.client.token };
  if (!(await startJob(context, client, jobId))) return false;

  context.print(`Job ${jobId} has started.`);
  const log = new LogSender(client, job);
  const cancel = new AbortController();
  const cancelWith = (reason: CancelReason) => cancel.abort(reason);
  const stop = () => cancelWith("agent_stop");
  if (context.stop.aborted) stop();
  context.stop.addEventListener("abort", stop);
  const ended = new AbortController();
  const polling = pollState({ ...context, client, jobId, ended: ended.signal, cancel: cancelWith });
  try {
    const result = await runSteps({
      job,
      client,
      log,
      cancel: cancel.signal,
      buildPath: context.buildPath,
      limit: context.limit,
    });
    await log.close();
    await finishJob(context, client, jobId, toFinish(result, cancel.signal, log, context));
    context.print(`Job ${jobId} has ended: ${result.signal ?? result.exitStatus}.`);
  } finally {
    ended.abort();
    context.stop.removeEventListener("abort", stop);
    await polling;
  }
  return true;
}

async function acceptJob(
  { client, print, stop, acquires = false }: JobContext,
  jobId: string,
): Promise<AcceptedJob | undefined> {
  try {
    return await retry(() => (acquires ? acquire : accept)(client, jobId), {
      waitsMs: waits.accept,
      isRetryable: acquires
        ? (error) => whenRetryable(error) || isLocked(error)
        : (error) => error instanceof CallFailed && error.status === undefined,
      signal: stop,
    });
  } catch (error) {
    print(`Job ${jobId} was not accepted: ${describe(error)}`);
    return undefined;
  }
}

/** The job waits for others, or its queue is paused. */
function isLocked(error: unknown): boolean {
  return error instanceof CallFailed && error.status === 423;
}

async function startJob({ print, stop }: JobContext, client: Client, jobId: string): Promise<boolean> {
  try {
    const startedAt = new Date().toISOString();
    await retry(() => start(client, jobId, startedAt), {
      waitsMs: waits.start,
      isRetryable: whenRetryable,
      signal: stop,
      onRetry: (error) => print(`Job ${jobId} cannot start yet: ${describe(error)}`),
    });
    return true;
  } catch (error) {
    print(`Job ${jobId} was dropped, the server refused its start: ${describe(error)}`);
    return false;
  }
}

async function finishJob({ print }: JobContext, client: Client, jobId: string, body: Finish): Promise<void> {
  try {
    await retry(() => finish(client, jobId, body), {
      waitsMs: waits.finish,
      isRetryable: whenRetryable,
      onRetry: (error) => print(`Job ${jobId} cannot finish yet: ${describe(error)}`),
    });
  } catch (error) {
    print(`The server did not take the end of job ${jobId}: ${describe(error)}`);
  }
}

function toFinish(result: Result, cancel: AbortSignal, log: LogSender, context: JobContext): Finish {
  const reason = cancel.aborted ? (cancel.reason as CancelReason) : result.reason;
  return {
    exit_status: result.exitStatus,
    ...(result.signal ? { signal: result.signal } : {}),
    ...(reason ? { signal_reason: reason } : {}),
    finished_at: new Date().toISOString(),
    chunks_failed_count: log.failed,
    ...(context.disconnectAfterJob ? { ignore_agent_in_dispatches: true } : {}),
  };
}
