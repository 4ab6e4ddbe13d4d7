import { setTimeout as sleep } from "node:timers/promises";
import { post } from "./http.ts";

/** Counts answers; `accepted` lists the ids of 201s. */
export interface Load {
  accepted: string[];
  others: number[];
  /** Requests without an answer. */
  broken: number;
  stop(): Promise<void>;
}

interface LoadOptions {
  senders?: number;
  /** Requests of all senders. */
  most?: number;
  /** From an answer to the sender's next request. */
  pauseMs?: number;
}

/** Sends from several clients until stopped. */
export function startLoad(urls: string[], options: LoadOptions = {}): Load {
  const { senders = 10, most = 5000, pauseMs = 0 } = options;
  let isStopped = false;
  let sent = 0;
  const load: Load = { accepted: [], others: [], broken: 0, stop };

  const sender = async (url: string) => {
    while (!isStopped && sent < most) {
      sent++;
      try {
        const answer = await post(url, '{"load":true}');
        if (answer.status === 201) load.accepted.push(answer.body.id);
        else load.others.push(answer.status);
      } catch {
        load.broken++;
        await sleep(20);
      }
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  const running = Array.from({ length: senders }, (_, index) => sender(urls[index % urls.length] as string));

  async function stop() {
    isStopped = true;
    await Promise.all(running);
  }
  return load;
}
