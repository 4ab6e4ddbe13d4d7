import { Worker } from "node:worker_threads";
import { findPayloadProblem, type PayloadProblem } from "../../shared/triggers/payload-problem.ts";
import { DeliveryRefusal } from "../../shared/triggers/refusals.ts";
import type { Question } from "./payload-thread.ts";

/** Parsing a megabyte holds up everyone for ten milliseconds; below this size the thread costs more than it saves. */
const threadFromBytes = 64 * 1024;

/** Checks payloads without holding up other requests. */
export interface PayloadChecks {
  /** @throws DeliveryRefusal 400 for what is not UTF-8 JSON, or nested deeper than `maxDepth` */
  requireWellFormed(body: Buffer, maxDepth: number): Promise<void>;
}

export function openPayloadChecks(): PayloadChecks {
  const thread = openThread();
  return {
    async requireWellFormed(body, maxDepth) {
      const isSmall = body.length < threadFromBytes;
      const problem = isSmall ? findPayloadProblem(body, maxDepth) : await thread.ask(body, maxDepth);
      if (problem) throw new DeliveryRefusal(problem);
    },
  };
}

interface Waiting {
  resolve: (problem: PayloadProblem | undefined) => void;
  reject: (error: Error) => void;
}

/** One thread, started when it is first needed and again should it ever die; it does not keep the process alive. */
function openThread() {
  let worker: Worker | undefined;
  const waiting: Waiting[] = [];

  const start = () => {
    const started = new Worker(new URL("./payload-thread.ts", import.meta.url));
    started.unref();
    started.on("message", (problem: PayloadProblem | undefined) => waiting.shift()?.resolve(problem));
    started.on("error", (error) => {
      worker = undefined;
      for (const { reject } of waiting.splice(0)) reject(error);
    });
    return started;
  };

  return {
    ask: (body: Buffer, maxDepth: number) =>
      new Promise<PayloadProblem | undefined>((resolve, reject) => {
        worker ??= start();
        waiting.push({ resolve, reject });
        // A copy travels: the bytes themselves are still to be stored.
        const copy = new Uint8Array(body);
        worker.postMessage({ body: copy, maxDepth } satisfies Question, [copy.buffer]);
      }),
  };
}
