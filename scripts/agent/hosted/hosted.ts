import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { secondMs } from "../../../shared/durations.ts";
import { type Cgroup, Cgroups } from "../command/cgroups.ts";
import { runSession } from "../session.ts";
import { withBuildPath } from "../start.ts";
import { AgentError, plain, type Stop } from "../terminal.ts";
import { describe } from "../wire/client.ts";
import { readIdentity } from "../wire/requests.ts";
import { describeMachine, reasonNotToServe } from "./machine.ts";
import { type HostedQueue, listHostedQueues, type Rest } from "./queues.ts";

const refreshEveryMs = 30 * secondMs;
/** After a session without a job. */
const restartAfterMs = 10 * secondMs;

export interface HostedOptions {
  endpoint: string;
  token: string;
  api: string;
  apiToken: string;
  cgroup?: string;
  buildPath?: string;
}

interface Output {
  stop: Stop;
  write: (text: string) => void;
}

interface Serving {
  queue: HostedQueue;
  /** Ends after its job. */
  stop: AbortController;
  ended: Promise<void>;
}

/**
 * Serves the hosted queues of a cluster on this machine: each job has an agent of its own. Queues that the
 * machine cannot serve get a paused agent, whose note says why.
 * @throws AgentError if a token is refused
 */
export async function serveHostedQueues(options: HostedOptions, { stop, write }: Output): Promise<void> {
  const print = (line: string) => write(`${new Date().toISOString()} ${plain(line)}\n`);
  const identity = await readIdentity(options).catch((error: unknown) => {
    throw new AgentError(`The server refuses the registration token: ${describe(error)}.`);
  });
  const rest = { ...options, organization: identity.organization_slug, clusterId: identity.cluster_uuid };
  await listHostedQueues(rest); // a refused token ends the command
  const limit = openCgroups(options.cgroup, print);
  await withBuildPath(options.buildPath, async (buildPath) => {
    const start = (queue: HostedQueue): Serving => {
      const ending = new AbortController();
      const both = { afterJob: AbortSignal.any([stop.afterJob, ending.signal]), now: stop.now };
      const ended = serve(queue, { ...options, buildPath, stop: both, limit: limit?.(queue), print });
      return { queue, stop: ending, ended };
    };
    await followQueues(rest, { start, stop, print });
  });
}

interface Following {
  start: (queue: HostedQueue) => Serving;
  stop: Stop;
  print: (line: string) => void;
}

/** Begins and ends agents as queues come, change and go. */
async function followQueues(rest: Rest, { start, stop, print }: Following): Promise<void> {
  const serving = new Map<string, Serving>();
  while (!stop.afterJob.aborted) {
    try {
      const queues = await listHostedQueues(rest);
      const isCurrent = ({ queue }: Serving) => queues.some((other) => isSame(other, queue));
      for (const each of serving.values()) if (!isCurrent(each)) each.stop.abort();
      for (const queue of queues) {
        if (serving.has(queue.id)) continue;
        const each = start(queue);
        serving.set(queue.id, each);
        void each.ended.finally(() => serving.delete(queue.id));
      }
    } catch (error) {
      print(describe(error));
    }
    await sleep(refreshEveryMs, undefined, { signal: stop.afterJob }).catch(() => {});
  }
  await Promise.all([...serving.values()].map(({ ended }) => ended));
}

const isSame = (a: HostedQueue, b: HostedQueue) => JSON.stringify(a) === JSON.stringify(b);

interface ServeOptions {
  endpoint: string;
  token: string;
  buildPath: string;
  stop: Stop;
  limit: ((jobId: string) => Cgroup) | undefined;
  print: (line: string) => void;
}

/** One session after another, each for one job. */
async function serve(queue: HostedQueue, options: ServeOptions): Promise<void> {
  const { stop } = options;
  const pausedBecause = reasonNotToServe(queue, describeMachine());
  const print = (line: string) => options.print(`${queue.key}: ${line}`);
  if (pausedBecause) print(`Not served. ${pausedBecause}`);
  while (!stop.afterJob.aborted) {
    const hasRun = await runSession({
      ...options,
      name: `${hostname()}-${queue.key}`,
      tags: [`queue=${queue.key}`, `instance_shape=${queue.shape.name}`],
      disconnectAfterJob: true,
      pausedBecause,
      print,
    }).catch((error: unknown) => print(describe(error)));
    if (!hasRun) await sleep(restartAfterMs, undefined, { signal: stop.afterJob }).catch(() => {});
  }
}

/** Undefined, and a sentence, if limits cannot be enforced. */
function openCgroups(root: string | undefined, print: (line: string) => void) {
  try {
    const cgroups = Cgroups.open(root);
    return ({ shape }: HostedQueue) =>
      (jobId: string) =>
        cgroups.create(jobId, { cpu: shape.cpu, memoryGb: shape.memory });
  } catch (error) {
    print(`CPU and memory of jobs are not limited: ${describe(error)}.`);
    return undefined;
  }
}
