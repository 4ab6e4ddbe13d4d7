import { and, eq, inArray, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { elapsedMs } from "../../db/columns.ts";
import type { Tx } from "../../db/database.ts";
import { preparedRow, valueFor } from "../../db/prepared.ts";
import { type ChangedBuild, putNewsOfBuilds } from "../../news/put.ts";
import {
  type BuildEvent,
  type BuildState,
  blockedBuildStates,
  finishedBuildStates,
  unfinishedBuildStates,
} from "../../vocabulary.ts";
import type { Build } from "./build-store.ts";

// Each change of a build's state, in one statement, and the news of it. Call with the build locked.

/** Writes news of a build if it has changed, and returns it. */
async function putNewsOf(
  tx: Tx,
  changed: ChangedBuild | undefined,
  event: BuildEvent,
): Promise<ChangedBuild | undefined> {
  if (changed) await putNewsOfBuilds(tx, [changed], event);
  return changed;
}

function columnsOfNews({ tables: { builds } }: Tx) {
  const { id, organizationId, notify } = builds;
  return { id, organizationId, notify };
}

const start = preparedRow<{ id: string; now: Date }, ChangedBuild, Tx>((tx) => {
  const { builds } = tx.tables;
  const { state, startedAt, workedMs, workingSince } = builds;
  const isNew = and(isNull(startedAt), inArray(state, ["scheduled", "failing"]));
  const isIdle = and(isNotNull(workedMs), isNull(workingSince));
  return tx
    .update(builds)
    .set({
      state: sql`case when ${state} = 'scheduled' then 'running' else ${state} end`,
      startedAt: sql`coalesce(${startedAt}, ${valueFor(startedAt, "now")})`,
      workedMs: sql`coalesce(${workedMs}, 0)`,
      workingSince: valueFor(workingSince, "now"),
    })
    .where(and(eq(builds.id, sql.placeholder("id")), or(isNew, isIdle)))
    .returning(columnsOfNews(tx));
});

/**
 * A job of the build starts, which works from now on: scheduled → running with the first one. A build that was failing
 * before its first job started is so still.
 */
export async function startWorkIfIdle(
  tx: Tx,
  { id, startedAt }: Pick<Build, "id" | "startedAt">,
  now: Date,
): Promise<void> {
  const started = await start(tx, { id, now });
  if (startedAt === null) await putNewsOf(tx, started, "build.running");
}

/** The columns of a build of which no job runs any more. */
function workEnd({ workedMs, workingSince }: Tx["tables"]["builds"]) {
  const now = valueFor(workingSince, "now");
  return {
    workedMs: sql`${workedMs} + coalesce(${elapsedMs(workingSince, now)}, 0)`,
    workingSince: null,
  };
}

const endWork = preparedRow<{ id: string; now: Date }, { id: string }, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx
    .update(builds)
    .set(workEnd(builds))
    .where(and(eq(builds.id, sql.placeholder("id")), isNotNull(builds.workingSince)))
    .returning({ id: builds.id });
});

/** The last running job of an unfinished build ended: it works again with the next one. */
export async function endWorkIfWorking(tx: Tx, given: { id: string; now: Date }): Promise<void> {
  await endWork(tx, given);
}

const cancel = preparedRow<{ id: string; reason: string | null }, ChangedBuild, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx
    .update(builds)
    .set({ state: "canceling", cancelReason: valueFor(builds.cancelReason, "reason") })
    .where(
      and(
        eq(builds.id, sql.placeholder("id")),
        inArray(builds.state, ["scheduled", "running", "failing", ...blockedBuildStates]),
      ),
    )
    .returning(columnsOfNews(tx));
});

/** scheduled, running, failing, blocked → canceling. */
export async function cancelBuildIfRunning(
  tx: Tx,
  given: { id: string; reason: string | null },
): Promise<void> {
  await putNewsOf(tx, await cancel(tx, given), "build.changed");
}

const fail = preparedRow<{ id: string; now: Date }, ChangedBuild, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx
    .update(builds)
    .set({
      state: "failing",
      failingAt: sql`coalesce(${builds.failingAt}, ${valueFor(builds.failingAt, "now")})`,
    })
    .where(and(eq(builds.id, sql.placeholder("id")), inArray(builds.state, ["scheduled", "running"])))
    .returning(columnsOfNews(tx));
});

/** scheduled, running → failing. The first time stays. */
export async function failBuildIfRunning(tx: Tx, given: { id: string; now: Date }): Promise<boolean> {
  return (await putNewsOf(tx, await fail(tx, given), "build.failing")) !== undefined;
}

const mend = preparedRow<{ id: string }, ChangedBuild, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx
    .update(builds)
    .set({ state: asBefore(builds.startedAt) })
    .where(and(eq(builds.id, sql.placeholder("id")), eq(builds.state, "failing")))
    .returning(columnsOfNews(tx));
});

/** failing → running, or scheduled if it had not started. */
export async function mendBuildIfFailing(tx: Tx, given: { id: string }): Promise<void> {
  await putNewsOf(tx, await mend(tx, given), "build.changed");
}

const block = preparedRow<{ id: string; state: BuildState; now: Date }, ChangedBuild, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx
    .update(builds)
    .set({
      state: valueFor(builds.state, "state"),
      pausedQueueId: null,
      isPaused: false,
      ...workEnd(builds),
    })
    .where(and(eq(builds.id, sql.placeholder("id")), inArray(builds.state, unfinishedBuildStates)))
    .returning(columnsOfNews(tx));
});

/** An unfinished build → blocked. It may be so already. */
export async function blockBuildIfUnfinished(
  tx: Tx,
  { id, state: before }: Pick<Build, "id" | "state">,
  { state, now }: { state: BuildState; now: Date },
): Promise<void> {
  const blocked = await block(tx, { id, state, now });
  if (before !== state) await putNewsOf(tx, blocked, "build.blocked");
}

/** blocked → scheduled, or running if it had started. */
export async function resumeBuildIfBlocked(tx: Tx, id: string): Promise<void> {
  const { builds } = tx.tables;
  const [changed] = await tx
    .update(builds)
    .set({ state: asBefore(builds.startedAt) })
    .where(and(eq(builds.id, id), inArray(builds.state, blockedBuildStates)))
    .returning(columnsOfNews(tx));
  await putNewsOf(tx, changed, "build.changed");
}

function asBefore(startedAt: SQLiteColumn): SQL<BuildState> {
  return sql`case when ${startedAt} is null then 'scheduled' else 'running' end`;
}

const finish = preparedRow<{ id: string; state: BuildState; now: Date }, ChangedBuild, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx
    .update(builds)
    .set({
      state: valueFor(builds.state, "state"),
      finishedAt: valueFor(builds.finishedAt, "now"),
      pausedQueueId: null,
      isPaused: false,
      ...workEnd(builds),
    })
    .where(and(eq(builds.id, sql.placeholder("id")), inArray(builds.state, unfinishedBuildStates)))
    .returning(columnsOfNews(tx));
});

/** An unfinished build → finished. */
export async function finishBuildIfUnfinished(
  tx: Tx,
  given: { id: string; state: BuildState; now: Date },
): Promise<void> {
  const event = given.state === "skipped" ? "build.skipped" : "build.finished";
  await putNewsOf(tx, await finish(tx, given), event);
}

/** A finished build → scheduled, or running if it had started. */
export async function reopenIfFinished(tx: Tx, id: string): Promise<void> {
  const { builds } = tx.tables;
  const { startedAt, finishedAt, workedMs, workingSince } = builds;
  // A process of 1.0.0 may have ended it: it measures no work.
  const measured = sql`${workedMs} + coalesce(${elapsedMs(workingSince, finishedAt)}, 0)`;
  const [changed] = await tx
    .update(builds)
    .set({
      state: asBefore(startedAt),
      finishedAt: null,
      workedMs: sql`coalesce(${measured}, ${elapsedMs(startedAt, finishedAt)})`,
      workingSince: null,
    })
    .where(and(eq(builds.id, id), inArray(builds.state, finishedBuildStates)))
    .returning(columnsOfNews(tx));
  await putNewsOf(tx, changed, "build.changed");
}
