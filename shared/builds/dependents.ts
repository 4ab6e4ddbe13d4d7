import type { Tx } from "../db/database.ts";
import type { Step } from "../db/schema.ts";
import type { Cluster } from "../queues/cluster-store.ts";
import type { Queue } from "../queues/store.ts";
import { listPipelinesOfCluster } from "./pipeline-store.ts";
import { countUnfinishedJobs } from "./store.ts";

/** What of builds would miss a queue or cluster: who deletes or changes one asks here, with its row held. */

/** How many pipelines have a step that names the queue, and how many jobs on it have not ended. */
export async function queueDependents(tx: Tx, { id, clusterId, key }: Queue) {
  const pipelines = await countPipelinesWith(tx, clusterId, (step) => step.agents?.queue === key);
  return { pipelines, unfinishedJobs: await countUnfinishedJobs(tx, { queueId: id }) };
}

/** How many pipelines have a step that names no queue, and so needs the default one. */
export function pipelinesOnDefault(tx: Tx, { id }: Cluster): Promise<number> {
  return countPipelinesWith(tx, id, (step) => step.agents?.queue === undefined);
}

/** How many pipelines run in a cluster. */
export function pipelinesOfCluster(tx: Tx, { id }: Cluster): Promise<number> {
  return countPipelinesWith(tx, id, () => true);
}

async function countPipelinesWith(
  tx: Tx,
  clusterId: string,
  isWanted: (step: Step) => boolean,
): Promise<number> {
  const pipelines = await listPipelinesOfCluster(tx, clusterId);
  return pipelines.filter(({ steps }) => steps.some(isWanted)).length;
}
