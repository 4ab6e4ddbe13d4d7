import { and, asc, eq, inArray, isNull, lt, not, or, type SQL, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import type { Db, Tx } from "../../db/database.ts";
import { findBy, isOneOf, prepared, preparedRow, valueFor } from "../../db/prepared.ts";
import type { StepWarning } from "../../db/schema/builds.ts";
import { type JobStanding, satisfyingJobStates } from "../../graph/progress.ts";
import { treeOfList } from "../../graph/tree.ts";
import {
  finishedJobStates,
  type JobState,
  type JobType,
  type Node,
  waitingJobStates,
} from "../../vocabulary.ts";
import type { Build } from "./build-store.ts";
import { factColumns, type JobFacts } from "./job-store.ts";
import { pauseOfQueue } from "./pause-store.ts";

export interface BuildGraph {
  /** Null: its steps wait for the waits before them. */
  tree: Node[] | null;
  warnings: StepWarning[] | null;
}

/** The stored graph of a build. Undefined: it has none, as its jobs say all of it. */
const findGraph = findBy<BuildGraph>(({ buildGraphs }) => buildGraphs.buildId);

export async function listWarnings(db: Db | Tx, buildId: string): Promise<StepWarning[]> {
  return (await warningsOfBuild(db, { buildId }))?.warnings ?? [];
}

const warningsOfBuild = preparedRow<{ buildId: string }, { warnings: StepWarning[] | null }>((db) => {
  const { buildId, warnings } = db.tables.buildGraphs;
  const isOfBuild = eq(buildId, sql.placeholder("buildId"));
  return db.select({ warnings }).from(db.tables.buildGraphs).where(isOfBuild);
});

/** Of the JSON of all trees that are kept. A tree takes up to seven bytes for each: its text, its nodes, their wiring. */
const maxKeptCharacters = 2 * 1024 * 1024;
const keptTrees = new LRUCache<string, { text: string; tree: Node[] }>({
  maxSize: maxKeptCharacters,
  sizeCalculation: ({ text }) => text.length,
});

const treeText = preparedRow<{ buildId: string }, { text: string | null }>((db) => {
  const { buildId, tree } = db.tables.buildGraphs;
  return db
    .select({ text: sql<string | null>`cast(${tree} as text)` })
    .from(db.tables.buildGraphs)
    .where(eq(buildId, sql.placeholder("buildId")));
});

/**
 * Reads the stored tree of a build. Callers must not change it: the next one may get the same. Each end of a job reads
 * it, and comparing its text takes a tenth of the time of parsing it.
 */
export async function findTree(db: Db | Tx, buildId: string): Promise<Node[] | undefined> {
  const text = (await treeText(db, { buildId }))?.text;
  if (!text) return undefined;
  const kept = keptTrees.get(buildId);
  if (kept?.text === text) return kept.tree;
  const tree: Node[] = JSON.parse(text);
  keptTrees.set(buildId, { text, tree });
  return tree;
}

/** Replaces the graph of a build. Call with the build locked. */
export async function putGraph(
  tx: Tx,
  { id: buildId, hasGraph }: Pick<Build, "id" | "hasGraph">,
  { tree, warnings }: WholeGraph,
): Promise<void> {
  const text = JSON.stringify(tree);
  await putTexts(tx, { buildId, tree: text, warnings: JSON.stringify(warnings) });
  keptTrees.set(buildId, { text, tree });
  const { builds } = tx.tables;
  if (!hasGraph) await tx.update(builds).set({ hasGraph: true }).where(eq(builds.id, buildId));
}

type GraphTexts = Record<"buildId" | "tree" | "warnings", string>;
const putTexts = prepared<GraphTexts, { buildId: string }, Tx>((tx) => {
  const { buildGraphs } = tx.tables;
  const text = (name: string) => sql`${sql.placeholder(name)}`;
  return tx
    .insert(buildGraphs)
    .values({ buildId: sql.placeholder("buildId"), tree: text("tree"), warnings: text("warnings") })
    .onConflictDoUpdate({
      target: buildGraphs.buildId,
      set: { tree: sql`excluded.tree`, warnings: sql`excluded.warnings` },
    })
    .returning({ buildId: buildGraphs.buildId });
});

export interface WholeGraph {
  tree: Node[];
  warnings: StepWarning[];
}

/** The graph of a build, of its jobs if none is stored. */
export async function readGraph(tx: Tx, buildId: string): Promise<WholeGraph> {
  const tree = (await findTree(tx, buildId)) ?? (await listTree(tx, buildId));
  return { tree, warnings: await listWarnings(tx, buildId) };
}

/** All jobs of a build, retried ones too. */
export const listStandings = prepared<{ buildId: string }, JobStanding, Tx>((tx) =>
  selectStandings(tx, undefined),
);

/** The jobs of a build that are not satisfied, and all retried ones, which lead to their retries. */
export const listUnsatisfied = prepared<{ buildId: string }, JobStanding, Tx>((tx) => {
  const { state, softFailed, retriedInJobId } = tx.tables.jobs;
  const failedSoftly = and(eq(softFailed, true), inArray(state, finishedJobStates));
  const isSatisfied = and(isNull(retriedInJobId), or(inArray(state, satisfyingJobStates), failedSoftly));
  return selectStandings(tx, not(isSatisfied as SQL));
});

function selectStandings(tx: Tx, condition: SQL | undefined) {
  const { jobs } = tx.tables;
  const { id, stepId, state, softFailed, retriedInJobId, unblockable } = jobs;
  return tx
    .select({ id, stepId, state, softFailed, retriedInJobId, unblockable })
    .from(jobs)
    .where(and(eq(jobs.buildId, sql.placeholder("buildId")), condition));
}

/** Returns true if a job of a step before this position waits for other steps. */
export async function hasWaitingBefore(tx: Tx, buildId: string, position: number): Promise<boolean> {
  const { jobs } = tx.tables;
  const isBefore = and(
    eq(jobs.buildId, buildId),
    inArray(jobs.state, waitingJobStates),
    lt(jobs.position, position),
  );
  return (await tx.select({ id: jobs.id }).from(jobs).where(isBefore).limit(1)).length > 0;
}

/** A job as pages place it. */
export interface PlacedJob extends JobStanding {
  type: JobType;
  position: number;
}

/** All jobs of a build, retried ones too, in no order. */
export const listPlaced = prepared<{ buildId: string }, PlacedJob>((db) => {
  const { jobs } = db.tables;
  const { id, stepId, state, softFailed, retriedInJobId, unblockable, type, position } = jobs;
  return db
    .select({ id, stepId, state, softFailed, retriedInJobId, unblockable, type, position })
    .from(jobs)
    .where(eq(jobs.buildId, sql.placeholder("buildId")));
});

export interface PlacedGraph {
  tree: Node[];
  warnings: StepWarning[];
  /** All jobs of the build, retried ones too, in no order. */
  jobs: PlacedJob[];
}

/** Reads how the steps of a build wait for each other, and its jobs. Reads no text of a step. */
export async function findPlacedGraph(
  db: Db,
  { id, hasGraph }: Pick<Build, "id" | "hasGraph">,
): Promise<PlacedGraph> {
  const [stored, jobs] = [await findGraph(db, id), await listPlaced(db, { buildId: id })];
  const tree = (hasGraph && stored?.tree) || treeOfPlaced(jobs);
  return { tree, warnings: stored?.warnings ?? [], jobs };
}

function treeOfPlaced(jobs: PlacedJob[]): Node[] {
  const first = jobs.filter(({ id, stepId }) => id === stepId);
  const steps = first.sort((one, other) => one.position - other.position || (one.id < other.id ? -1 : 1));
  return treeOfList(
    steps.map(({ id, type, state }) => ({ id, isWait: type === "waiter" && state !== "broken" })),
  );
}

/** The tree of a build that has none stored. Its jobs say all of it. */
export async function listTree(tx: Tx, buildId: string): Promise<Node[]> {
  const { jobs } = tx.tables;
  const found = await tx
    .select({ id: jobs.id, type: jobs.type, state: jobs.state, options: jobs.ownOptions })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), eq(jobs.id, jobs.stepId)))
    .orderBy(asc(jobs.position), asc(jobs.id));
  return treeOfList(
    found.map(({ id, type, state, options }) => ({
      id,
      key: options?.key,
      isWait: type === "waiter" && state !== "broken",
      continueOnFailure: options?.continue_on_failure,
    })),
  );
}

export interface StepsOfBuild {
  buildId: string;
  stepIds: string[];
}

type StepsAt = StepsOfBuild & { now: Date };
type EndedJob = Pick<JobFacts, "id" | "type" | "state">;

/** waiting, blocked → scheduled, of the commands and triggers among some steps. */
export const scheduleIfWaiting = prepared<StepsAt, JobFacts, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({
      state: "scheduled",
      scheduledAt: valueFor(jobs.scheduledAt, "now"),
      dispatchPausedAt: pauseOfQueue(tx),
    })
    .where(and(isWaitingOf(tx), inArray(jobs.type, ["script", "trigger"])))
    .returning(factColumns(tx));
});

/** waiting, blocked → passed, of the waits among some steps. */
export const passIfWaiting = prepared<StepsAt, EndedJob, Tx>((tx) =>
  endWaiting(tx, "passed", eq(tx.tables.jobs.type, "waiter")),
);

/** waiting, blocked → waiting_failed, of some steps. */
export const failIfWaiting = prepared<StepsAt, EndedJob, Tx>((tx) => endWaiting(tx, "waiting_failed"));

/** waiting, blocked → blocked_failed, of some steps. */
export const failIfBlocked = prepared<StepsAt, EndedJob, Tx>((tx) => endWaiting(tx, "blocked_failed"));

function endWaiting(tx: Tx, state: JobState, condition?: SQL) {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({ state, finishedAt: valueFor(jobs.finishedAt, "now"), unblockable: false })
    .where(and(isWaitingOf(tx), condition))
    .returning({ id: jobs.id, type: jobs.type, state: jobs.state });
}

export function isWaitingOf(tx: Tx): SQL | undefined {
  const { jobs } = tx.tables;
  return and(
    eq(jobs.buildId, sql.placeholder("buildId")),
    inArray(jobs.state, waitingJobStates),
    isOneOf(jobs.stepId, "stepIds"),
  );
}

/** waiting_failed → waiting, blocked_failed → blocked, unblocked_failed → unblocked. */
export async function reopenFailedWaits(tx: Tx, buildId: string): Promise<void> {
  const { jobs } = tx.tables;
  const { state, unblockedAt } = jobs;
  await tx
    .update(jobs)
    .set({
      state: sql`case ${state} when 'waiting_failed' then 'waiting' when 'blocked_failed' then 'blocked' else 'unblocked' end`,
      finishedAt: sql`case when ${state} = 'unblocked_failed' then ${unblockedAt} end`,
    })
    .where(
      and(
        eq(jobs.buildId, buildId),
        inArray(state, ["waiting_failed", "blocked_failed", "unblocked_failed"]),
        isNull(jobs.retriedInJobId),
      ),
    );
}
