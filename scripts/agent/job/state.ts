import { setTimeout as sleep } from "node:timers/promises";
import { secondMs } from "../../../shared/durations.ts";
import type { Print } from "../terminal.ts";
import { CallFailed, type Client, describe } from "../wire/client.ts";
import { readState } from "../wire/requests.ts";

const canceledStates = new Set(["canceling", "canceled", "timing_out", "timed_out"]);

export interface Polling {
  client: Client;
  jobId: string;
  statusIntervalMs: number;
  print: Print;
  /** Ends the polling. */
  ended: AbortSignal;
  cancel: (reason: "cancel") => void;
}

/** Reads the state at each interval until the job is canceled or over. */
export async function pollState(polling: Polling): Promise<void> {
  const { statusIntervalMs, ended, cancel } = polling;
  while (!ended.aborted) {
    const jitterMs = Math.random() * Math.min(statusIntervalMs, secondMs);
    await sleep(statusIntervalMs + jitterMs, undefined, { signal: ended }).catch(() => {});
    if (!ended.aborted && (await isCanceled(polling))) return cancel("cancel");
  }
}

async function isCanceled({ client, jobId, print, ended }: Polling): Promise<boolean> {
  try {
    return canceledStates.has((await readState(client, jobId, ended)) ?? "");
  } catch (error) {
    if (ended.aborted) return false;
    // The job is another agent's now: this one was taken for lost.
    if (error instanceof CallFailed && (error.status === 401 || error.status === 404)) return true;
    print(`The state of job ${jobId} cannot be read: ${describe(error)}`);
    return false;
  }
}
