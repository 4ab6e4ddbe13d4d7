import { countUnfinishedJobs } from "../builds/store.ts";
import type { Cluster } from "../clusters/store.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Queue } from "../queues/store.ts";
import type { Step } from "../vocabulary.ts";
import { listPipelinesOfCluster, type Pipeline } from "./store.ts";

/** What of builds would miss a queue or cluster: who deletes or changes one asks here, with its row held. */

/** How many pipelines have a step that names the queue, and how many jobs on it have not ended. */
export async function queueDependents(tx: Tx, queue: Queue) {
  const { length: pipelines } = await listPipelinesOn(tx, queue);
  return { pipelines, unfinishedJobs: await countUnfinishedJobs(tx, { queueId: queue.id }) };
}

/** Pipelines that have a step that names the queue. */
export function listPipelinesOn(db: Db | Tx, { clusterId, key }: Queue): Promise<Pipeline[]> {
  return listPipelinesWith(db, clusterId, (step) => step.agents?.queue === key);
}

/** How many pipelines have a step that names no queue, and so needs the default one. */
export async function pipelinesOnDefault(tx: Tx, { id }: Cluster): Promise<number> {
  return (await listPipelinesWith(tx, id, (step) => step.agents?.queue === undefined)).length;
}

/** How many pipelines run in a cluster, and how many jobs on its queues have not ended: pipelines can move away. */
export async function clusterDependents(tx: Tx, { id }: Cluster) {
  const pipelines = (await listPipelinesWith(tx, id, () => true)).length;
  return { pipelines, unfinishedJobs: await countUnfinishedJobs(tx, { clusterId: id }) };
}

async function listPipelinesWith(
  db: Db | Tx,
  clusterId: string,
  isWanted: (step: Step) => boolean,
): Promise<Pipeline[]> {
  const pipelines = await listPipelinesOfCluster(db, clusterId);
  return pipelines.filter(({ steps }) => steps.some(isWanted));
}
