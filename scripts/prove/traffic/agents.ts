import { count, eq, inArray, isNotNull, isNull, ne, or } from "drizzle-orm";
import type { Db } from "../../../shared/db/database.ts";
import { countRows } from "../../../shared/db/rows.ts";
import { findCrowds, findGroupFaults, readEntries, readHolders, type SeenEntry } from "./groups.ts";
import type { Lane } from "./lane.ts";

const lookEveryMs = 150;

/** Reads who has which job. Returns the number of waiting jobs by queue; undefined while the database is away. */
export type Look = () => Promise<Map<string, number> | undefined>;

/**
 * Clocks of processes jump, so the time of an assignment is between two looks: the first begins without it, the second
 * ends with it. A caller that looks itself makes that time exact.
 */
export function openLooks({ observed, timeline }: Pick<Lane, "observed" | "timeline">, db: Db): Look {
  const seen = new Set<string>();
  let entries: SeenEntry[] = [];
  let fromMs = timeline.nowMs();
  return async () => {
    const beganMs = timeline.nowMs();
    const rows = await readAssigned(db).catch(() => undefined);
    if (!rows) return undefined;
    const untilMs = timeline.nowMs();
    for (const { id, queueId, assignedAt } of rows.assigned) {
      const assignment = `${id} ${assignedAt?.getTime()}`;
      if (seen.has(assignment)) continue;
      seen.add(assignment);
      observed.assignments.push({ queueId: queueId ?? "", jobId: id, fromMs, untilMs });
    }
    fromMs = Math.max(fromMs, beganMs); // a look may overtake another
    observed.waitingJobs = rows.waitingJobs;
    observed.leaseLooks++;
    for (const { jobId, agentId, holderId } of rows.doubled)
      observed.doubleLeases.push({ jobId, agentIds: [agentId, holderId], atMs: untilMs });
    for (const fault of [...findGroupFaults(entries, rows.entries), ...findCrowds(rows.holders)])
      observed.groupFaults.push({ fault, atMs: untilMs });
    entries = rows.entries;
    return new Map(rows.waiting.map(({ queueId, total }) => [queueId ?? "", total]));
  };
}

/** Looks again and again. */
export async function watchAssignments(lane: Lane, look: Look): Promise<void> {
  while (!lane.signal.aborted) {
    await look();
    await lane.pause(lookEveryMs);
  }
}

async function readAssigned(db: Db) {
  const { agents, jobs } = db.tables;
  const { id, queueId, assignedAt } = jobs;
  const isWaiting = eq(jobs.state, "scheduled");
  const isOthers = or(isNull(jobs.agentId), ne(jobs.agentId, agents.id));
  const leases = { jobId: id, agentId: agents.id, holderId: jobs.agentId };
  return {
    assigned: await db.select({ id, queueId, assignedAt }).from(jobs).where(isNotNull(assignedAt)),
    waiting: await db.select({ queueId, total: count() }).from(jobs).where(isWaiting).groupBy(queueId),
    waitingJobs: await countRows(db, jobs, inArray(jobs.state, ["scheduled", "limited", "blocked"])),
    // One statement sees one moment.
    doubled: await db.select(leases).from(agents).innerJoin(jobs, eq(id, agents.jobId)).where(isOthers),
    entries: await readEntries(db),
    holders: await readHolders(db),
  };
}
