import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { startPlayer } from "../player.ts";
import type { Load, LoadResult } from "./generator.ts";

/** Takes one load at a time. */
export type Generator = (load: Load) => Promise<LoadResult>;

/** A server that closes more connections than this, for each request, is not measured. */
const maxResets = 0.05;

/** A trial must not overload a machine that is busy. */
const maxQuickConnections = 5;

/** An unexpected answer fails a load with RunFailed. */
export function startGenerator(scratch: Scratch, { quick }: { quick?: boolean }, name = "load"): Generator {
  const player = startPlayer<typeof import("./generator.ts")>(scratch, "load/generator.ts", { name });
  return async (load) => {
    const connections = quick ? Math.min(maxQuickConnections, load.connections) : load.connections;
    const result = await player.send({ ...load, connections });
    const { origin } = new URL(load.requests[0]?.url ?? ""); // the path may contain a token
    const { accepted, resets } = result;
    const refused = Object.entries(result.refused).map(([kind, count]) => `${count} × ${kind}`);
    if (refused.length > 0)
      throw new RunFailed(
        `Not all answers of ${origin} were as they should be: ${accepted} were, but ${refused.join(", ")}.`,
      );
    if (accepted === 0 || resets > accepted * maxResets)
      throw new RunFailed(`${origin} answered ${accepted} requests and closed ${resets} connections.`);
    return result;
  };
}
