import { setTimeout as sleep } from "node:timers/promises";
import type { Print } from "./terminal.ts";
import { CallFailed, type Client, describe } from "./wire/client.ts";
import { heartbeat } from "./wire/requests.ts";
import { retry, waits, whenRetryable } from "./wire/retry.ts";

export interface Heartbeats {
  client: Client;
  intervalMs: number;
  ended: AbortSignal;
  print: Print;
  /** Called once: the session is over. */
  onRefused: () => void;
}

/** Sends heartbeats in the background, also during jobs. */
export function keepAlive(heartbeats: Heartbeats): void {
  void sendHeartbeats(heartbeats).catch(() => {}); // ended
}

async function sendHeartbeats({ client, intervalMs, ended, print, onRefused }: Heartbeats): Promise<void> {
  for (;;) {
    await sleep(intervalMs, undefined, { signal: ended });
    try {
      await retry(() => heartbeat(client, new Date().toISOString(), ended), {
        waitsMs: waits.heartbeat,
        isRetryable: whenRetryable,
        signal: ended,
      });
    } catch (error) {
      if (ended.aborted) return;
      print(`The server did not take a heartbeat: ${describe(error)}`);
      if (error instanceof CallFailed && !whenRetryable(error)) return onRefused();
    }
  }
}
