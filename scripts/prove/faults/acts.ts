import { listProcesses, type Process, treeOf } from "../../scratch/process-tree.ts";
import type { Installation, Link } from "../installation/installation.ts";
import { between, pick, type Random } from "../random.ts";
import type { Fault, Injected } from "./fault.ts";

type Inject = Fault["inject"];
type Span = [fromMs: number, toMs: number];

/** One fault in this many may hit a process that is starting; with more, a slow machine would never be up. */
const whileStarting = 4;

/** Sends a signal to an ingress process, worker or agent. @param frozen how long it may last */
export function signalProcess(signal: NodeJS.Signals, frozen?: Span): Inject {
  return async ({ processes }, random) => {
    const target = pick(random, processes.names);
    const mayBeStarting = random(whileStarting) === 0;
    const ms = frozen && between(random, ...frozen);
    if (processes.pidOf(target) === undefined) return undefined;
    if (!mayBeStarting && !processes.isStarted(target)) return undefined;
    processes.signal(target, signal);
    return { target, ...(ms && { lasting: { ms, undo: () => processes.signal(target, "SIGCONT") } }) };
  };
}

/** Sends one of these signals to Redis or Postgres. */
export function signalServer(target: string, signals: NodeJS.Signals[], frozen?: Span): Inject {
  return async ({ servers }, random) => {
    const ms = frozen && between(random, ...frozen);
    const signal = signals.length > 1 ? pick(random, signals) : (signals[0] ?? "SIGKILL");
    if (servers.pidOf(target) === undefined) return undefined;
    servers.signal(target, signal);
    const words = signals.length > 1 ? `${target}, ${signal}` : target;
    return { target: words, ...(ms && { lasting: { ms, undo: () => servers.signal(target, "SIGCONT") } }) };
  };
}

export function commandRedis(...command: [string, ...string[]]): Inject {
  return async ({ redis }) => {
    await redis.command(...command);
    return { target: "redis" };
  };
}

/** Disturbs one of the links. @param disturb returns more words, and how to undo it */
export function disturbLink(
  disturb: (proxy: Link["proxy"], random: Random) => Injected["lasting"] & { words?: string },
): Inject {
  return async ({ links }, random) => {
    const { name, proxy } = pick(random, links);
    const { words = "", ...lasting } = disturb(proxy, random);
    return { target: name + words, ...(lasting.ms > 0 && { lasting }) };
  };
}

/** The server's process, then those of its connections and of its own work. None while it is down. */
export function listPostgres({ servers }: Installation): Process[] {
  const pid = servers.pidOf("postgres");
  return pid === undefined ? [] : treeOf(pid, listProcesses());
}

/** A process may have ended meanwhile. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}
