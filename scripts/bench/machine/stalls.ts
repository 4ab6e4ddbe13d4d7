import { secondMs } from "../../../shared/durations.ts";
import { metricOf, readMetrics } from "../../scratch/metrics.ts";
import { RunFailed } from "../../scratch/scratch.ts";

/** The milliseconds of the timer by whose delay Node measures the event loop. */
const loopTimerMs = 10;

/** Returns the longest time for which the event loop of the ingress stood still since the last call. */
export async function takeStallMs({ metricsPort }: { metricsPort: number }): Promise<number> {
  const seconds = metricOf(await readMetrics(metricsPort), "nodejs_eventloop_lag_max_seconds");
  if (Number.isNaN(seconds)) throw new RunFailed("The ingress shows no lag of its event loop.");
  return Math.max(0, seconds * secondMs - loopTimerMs);
}
