import type { Db, Tx } from "../db/database.ts";
import { notFound, unavailable } from "../refusal.ts";
import { type Dependents, listDependents } from "./dependents-store.ts";
import { type Cluster, findClusterById, lockCluster } from "./store.ts";

const maxTries = 3;

/**
 * Runs a transaction that needs the number of pipelines that use a cluster or queue. To count them takes long, so they
 * are counted before, and again if steps changed meanwhile.
 * @param work gets the locked cluster and the number
 * @throws Refusal 404, 503
 */
export async function transactWithDependents<Result>(
  db: Db,
  dependents: Dependents,
  work: (tx: Tx, cluster: Cluster, pipelines: number) => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; tries < maxTries; tries++) {
    const known = await findClusterById(db, dependents.clusterId);
    const { length } = await listDependents(db, dependents);
    const outcome = await db.transaction(async (tx) => {
      const cluster = await lockCluster(tx, dependents.clusterId);
      if (!cluster) throw notFound("cluster");
      if (cluster.stepsVersion !== known?.stepsVersion) return undefined;
      return { result: await work(tx, cluster, length) };
    });
    if (outcome) return outcome.result;
  }
  throw unavailable();
}
