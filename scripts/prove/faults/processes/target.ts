import type { Installation } from "../../installation/installation.ts";
import { pick, type Random } from "../../random.ts";

/** One fault in this many may hit a process that is starting; with more, a slow machine would never be up. */
const whileStarting = 4;

/** Draws an ingress process, worker or agent. Returns undefined if that one is down. */
export function drawProcess({ processes }: Installation, random: Random): string | undefined {
  const name = pick(random, processes.names);
  const mayBeStarting = random(whileStarting) === 0;
  if (processes.pidOf(name) === undefined) return undefined;
  return mayBeStarting || processes.isStarted(name) ? name : undefined;
}
