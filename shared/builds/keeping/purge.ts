import { restBetweenTransactions } from "../../db/batches.ts";
import { afterDays, atOnce, expiring } from "../../retention/expiring.ts";
import { uncountBuilds } from "../../retention/records.ts";
import { measureBuilds } from "../../retention/records-store.ts";
import type { Services } from "../../services/services.ts";
import { deleteJobTokensExpiredBefore } from "../meta-data/meta-data-store.ts";
import {
  deleteBuilds,
  listBuildsFinishedBefore,
  listBuildsOfPipelines,
  listDeletedPipelines,
} from "../rows/build-store.ts";

const maxBuildsAtOnce = 200;
/** 200 ordinary builds have less. Jobs of as many bytes lock SQLite for 0.2 s; one build with more is purged alone. */
const maxPurgedBytes = 1024 ** 2;
const maxPipelinesAtOnce = 500;

export const expiredJobTokens = expiring("jobTokens", atOnce, deleteJobTokensExpiredBefore);

/**
 * Purges finished builds past their retention, and all builds of deleted pipelines.
 * @param purgeContent deletes logs and artifacts of builds in small transactions: a cascade would be a long one
 * @returns the number of builds
 */
export async function purgeBuilds(
  { db, clock, config }: Services,
  purgeContent: (buildIds: string[]) => Promise<void>,
): Promise<number> {
  const before = afterDays("buildRetentionDays")(clock.now(), config);
  const purge = async (list: (limit: number) => Promise<string[]>) => {
    for (let total = 0; ; ) {
      const ids = await list(maxBuildsAtOnce);
      if (ids.length === 0) return total;
      await purgeContent(ids);
      for (const some of inParts(await measureBuilds(db, ids))) {
        total += await db.transaction(async (tx) => {
          await uncountBuilds(tx, some);
          return deleteBuilds(tx, some);
        });
        await restBetweenTransactions();
      }
    }
  };
  let after: string | undefined;
  const listOfDeleted = async (limit: number) => {
    for (;;) {
      const pipelines = await listDeletedPipelines(db, after, maxPipelinesAtOnce);
      const withBuilds = pipelines.flatMap(({ id, firstBuild }) => (firstBuild === null ? [] : id));
      const ids = await listBuildsOfPipelines(db, withBuilds, limit);
      if (ids.length > 0 || pipelines.length < maxPipelinesAtOnce) return ids;
      after = pipelines.at(-1)?.id;
    }
  };
  return (await purge(listOfDeleted)) + (await purge((limit) => listBuildsFinishedBefore(db, before, limit)));
}

/** Jobs, meta-data and annotations go by cascade with their build: a large one is deleted alone. */
function inParts(builds: { id: string; bytes: number }[]): string[][] {
  const parts: string[][] = [];
  let partBytes = Number.POSITIVE_INFINITY;
  for (const { id, bytes } of builds) {
    partBytes += bytes;
    if (partBytes > maxPurgedBytes) {
      parts.push([]);
      partBytes = bytes;
    }
    parts.at(-1)?.push(id);
  }
  return parts;
}
