import type { Installation } from "../installation/installation.ts";
import { between, pick, type Random } from "../random.ts";
import type { Fault, Injected } from "./fault.ts";

/** One fault in this many may hit a process that is starting; with more, a slow machine would never be up. */
const whileStarting = 4;

/** Ingress processes, workers and agents. */
export const processFaults: Fault[] = [
  {
    kind: "kill",
    summary: "kill -9 of an ingress process, worker or agent",
    weight: 4,
    inject: async (installation, random) => signalOne(installation, random, "SIGKILL"),
  },
  {
    kind: "terminate",
    summary: "SIGTERM to an ingress process, worker or agent, as a restart sends it",
    weight: 2,
    inject: async (installation, random) => signalOne(installation, random, "SIGTERM"),
  },
  {
    kind: "freeze",
    summary: "SIGSTOP of an ingress process, worker or agent, SIGCONT after 0.3 to 10 s",
    weight: 4,
    async inject(installation, random) {
      const frozen = signalOne(installation, random, "SIGSTOP");
      const ms = between(random, 300, 10_000);
      const undo = () => installation.processes.signal(frozen?.target ?? "", "SIGCONT");
      return frozen && { ...frozen, lasting: { ms, undo } };
    },
  },
];

/** Draws a process. Returns undefined if that one is down. */
function signalOne(
  { processes }: Installation,
  random: Random,
  signal: NodeJS.Signals,
): Injected | undefined {
  const target = pick(random, processes.names);
  const mayBeStarting = random(whileStarting) === 0;
  if (processes.pidOf(target) === undefined) return undefined;
  if (!mayBeStarting && !processes.isStarted(target)) return undefined;
  processes.signal(target, signal);
  return { target };
}
