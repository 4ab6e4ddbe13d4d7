import { and, asc, desc, eq, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/database.ts";
import { countRows } from "../../db/rows.ts";
import { factColumns, type JobFacts } from "../rows/job-store.ts";
import { pauseOfQueue, refreshPausesOf } from "../rows/pause-store.ts";
import { byPriority, type Candidate, type GroupView, type Place } from "./decide.ts";
import type { Group } from "./entries-store.ts";

/** Locks a group, so that its room is given once. Builds are locked before. */
export async function lockGroup(tx: Tx, id: string): Promise<Group | undefined> {
  const { concurrencyGroups: groups } = tx.tables;
  return (await tx.lock(groups, eq(groups.id, id), "exclusive"))[0];
}

/** A limit that is higher keeps nobody waiting: an organization may have a hundred thousand jobs in a group. */
const maxRead = 5000;
/** Jobs of a group may have a limit each. Once those of the highest have started, others are the highest. */
const maxLimits = 100;

/** Reads no more entries than the group has room for, however many wait, and no more than `maxRead`. */
export async function viewGroup(db: Db | Tx, groupId: string, maxLimited: number): Promise<GroupView> {
  const holders = await countHolders(db, groupId);
  const room = Math.min((await findHighestLimit(db, groupId)) - holders, maxRead);
  if (room <= 0) return { holders, limited: [], waiting: [], eager: [] };
  const limited = await listFirst(db, { groupId, standing: "limited", limit: Math.min(room, maxLimited) });
  const waiting =
    limited.length > 0 ? await listFirst(db, { groupId, standing: "waiting", limit: room }) : [];
  const eager = limited.length > 0 ? await listEager(db, { groupId, holders, maxLimited }) : [];
  return { holders, limited, waiting, eager };
}

export function countHolders(db: Db | Tx, groupId: string): Promise<number> {
  const { concurrencyMembers: entries } = db.tables;
  return countRows(db, entries, and(eq(entries.groupId, groupId), eq(entries.standing, "holding")));
}

export async function findHighestLimit(db: Db | Tx, groupId: string): Promise<number> {
  const { concurrencyMembers: entries } = db.tables;
  const [found] = await db
    .select({ limit: entries.limit })
    .from(entries)
    .where(eq(entries.groupId, groupId))
    .orderBy(desc(entries.limit))
    .limit(1);
  return found?.limit ?? 0;
}

/** By the time of the build, or of the job that uploaded the step; whole build before whole build; then by the steps. */
export function orderOfGroup({ tables: { concurrencyMembers: entries } }: Reader | Tx): SQL[] {
  const { orderedAt, buildId, position, jobId } = entries;
  return [asc(orderedAt), asc(buildId), asc(position), asc(jobId)];
}

/** The first entries of a group, in its order. */
export async function listFirst(
  db: Db | Tx,
  { groupId, standing, limit }: { groupId: string; standing: "limited" | "waiting"; limit: number },
): Promise<Candidate[]> {
  const { concurrencyMembers: entries } = db.tables;
  return db
    .select()
    .from(entries)
    .where(and(eq(entries.groupId, groupId), eq(entries.standing, standing)))
    .orderBy(...orderOfGroup(db))
    .limit(limit);
}

/** Reads the first ones of each limit that has room, of the highest limits. */
async function listEager(
  db: Db | Tx,
  { groupId, holders, maxLimited }: { groupId: string; holders: number; maxLimited: number },
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let limit = await findNextLimit(db, { groupId, below: undefined });
  for (let limits = 0; limit !== undefined && limit > holders && limits < maxLimits; limits++) {
    found.push(...(await listEagerOf(db, { groupId, limit, room: Math.min(limit - holders, maxLimited) })));
    limit = await findNextLimit(db, { groupId, below: limit });
  }
  return found.sort(byPriority);
}

export async function findNextLimit(
  db: Db | Tx,
  { groupId, below }: { groupId: string; below: number | undefined },
): Promise<number | undefined> {
  const { concurrencyMembers: entries } = db.tables;
  const { priority, orderedAt, buildId, position, jobId } = entries;
  const [found] = await db
    .select({ limit: entries.limit })
    .from(entries)
    .where(
      and(
        eq(entries.groupId, groupId),
        isEagerAndLimited(db),
        below === undefined ? undefined : lt(entries.limit, below),
      ),
    )
    // The order of the index of eager entries, backwards: the database sorts nothing.
    .orderBy(desc(entries.limit), asc(priority), desc(orderedAt), desc(buildId), desc(position), desc(jobId))
    .limit(1);
  return found?.limit;
}

export async function listEagerOf(
  db: Db | Tx,
  { groupId, limit, room }: { groupId: string; limit: number; room: number },
): Promise<Candidate[]> {
  const { concurrencyMembers: entries } = db.tables;
  return db
    .select()
    .from(entries)
    .where(and(eq(entries.groupId, groupId), isEagerAndLimited(db), eq(entries.limit, limit)))
    .orderBy(desc(entries.priority), ...orderOfGroup(db))
    .limit(room);
}

/** As the index has it. */
function isEagerAndLimited({ tables: { concurrencyMembers: entries } }: Db | Tx): SQL {
  return sql`${entries.standing} = 'limited' and ${entries.isEager}`;
}

/** Stores the last place that a group has let in. Call with the group locked. */
export async function setReached(tx: Tx, id: string, { orderedAt, buildId }: Place): Promise<void> {
  const { concurrencyGroups: groups } = tx.tables;
  await tx.update(groups).set({ reachedAt: orderedAt, reachedBuildId: buildId }).where(eq(groups.id, id));
}

/** limited → holding, and their jobs limited → scheduled. Call with their builds and the group locked. */
export async function startIfLimited(tx: Tx, jobIds: string[]): Promise<JobFacts[]> {
  const { jobs, concurrencyMembers: entries } = tx.tables;
  const started = await tx
    .update(jobs)
    .set({ state: "scheduled", scheduledAt: tx.now, dispatchPausedAt: pauseOfQueue(tx) })
    .where(and(inArray(jobs.id, jobIds), eq(jobs.state, "limited")))
    .returning(factColumns(tx));
  if (started.length === 0) return started;
  const ids = started.map(({ id }) => id);
  await tx
    .update(entries)
    .set({ standing: "holding" })
    .where(and(inArray(entries.jobId, ids), eq(entries.standing, "limited")));
  await refreshPausesOf(tx, started);
  return started;
}
