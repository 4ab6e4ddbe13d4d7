import type { Build } from "../builds/rows/build-store.ts";
import { lockBuilds } from "../builds/rows/progress-store.ts";
import type { Tx } from "../db/database.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { openGatherers } from "../sharing/gatherer.ts";

interface BuildKey {
  buildId: string;
  organizationId: string;
}

interface Change {
  key: BuildKey;
  run: (tx: Tx, build: Build) => Promise<unknown>;
}

/** Changes jobs of a build, which is locked. Changes of an organization that come together share a commit. */
export type LeaseBatches = <Result>(
  key: BuildKey,
  run: (tx: Tx, build: Build) => Promise<Result>,
) => Promise<Result>;

const maxChanges = 200;

/** A refusal that a change throws reaches its caller alone: throw it before writing. */
export function openLeaseBatches({ db }: Pick<Services, "db">): LeaseBatches {
  const gatherers = openGatherers<Change, unknown>(({ key }) => key.organizationId, {
    maxItems: maxChanges,
    flush: (changes) =>
      db.transaction(async (tx) => {
        const ids = [...new Set(changes.map(({ key }) => key.buildId))];
        const builds = new Map((await lockBuilds(tx, ids)).map((build) => [build.id, build]));
        const results: unknown[] = [];
        for (const change of changes) results.push(await runOne(tx, builds.get(change.key.buildId), change));
        return results;
      }),
  });

  return <Result>(key: BuildKey, run: (tx: Tx, build: Build) => Promise<Result>) =>
    gatherers.add({ key, run }) as Promise<Result>;
}

async function runOne(tx: Tx, build: Build | undefined, { run }: Change): Promise<unknown> {
  if (!build) return notFound("job");
  try {
    return await run(tx, build);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
