import type { Tx } from "../../db/database.ts";
import { commandOn, resolveStepQueues } from "../../pipelines/step-queues.ts";
import { excerpt } from "../../refusal.ts";
import type { Job } from "./job-store.ts";

/** Returns true if a job lacks the queue that its step names, or the default queue of its cluster. */
export function isQueueless({ type, queueId }: Pick<Job, "type" | "queueId">): boolean {
  return type === "script" && queueId === null;
}

/** Says why a job fails once it is reached. */
export function queuelessReason(queue: string): string {
  const missing = queue === "" ? "default queue" : `queue ${excerpt(queue)}`;
  return `The cluster had no ${missing} when the job was made`;
}

/** The jobs with the queues that their cluster has by now, as far as it has them. */
export async function findQueuesAgain(tx: Tx, clusterId: string, jobs: Job[]): Promise<Job[]> {
  if (!jobs.some(isQueueless)) return jobs;
  const commands = jobs.map(({ options }) => commandOn(options?.queue || undefined));
  const queueOf = await resolveStepQueues(tx, [{ clusterId, steps: commands }]);
  return jobs.map((job, index): Job => {
    const queueId = isQueueless(job)
      ? queueOf(clusterId, commands[index] as (typeof commands)[number])
      : undefined;
    return queueId === undefined ? job : { ...job, queueId };
  });
}
