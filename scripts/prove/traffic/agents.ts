import { count, eq, isNotNull, isNull, ne, or } from "drizzle-orm";
import type { Services } from "../../../shared/runtime/services.ts";
import { withServices } from "../../bench/signalbox.ts";
import type { Lane } from "./lane.ts";

const lookEveryMs = 150;

/**
 * Watches jobs being assigned and who has them, by reading the rows. Clocks of processes jump, so the time of an assignment is between
 * two reads: the first begins without it, the second ends with it.
 */
export async function watchAssignments(lane: Lane): Promise<void> {
  await withServices(lane.installation.installed, async ({ db }) => {
    const { observed, timeline } = lane;
    const seen = new Set<string>();
    let fromMs = timeline.nowMs();
    while (!lane.signal.aborted) {
      const beganMs = timeline.nowMs();
      const rows = await readAssigned(db).catch(() => undefined);
      const untilMs = timeline.nowMs();
      for (const { id, queueId, assignedAt } of rows?.assigned ?? []) {
        const assignment = `${id} ${assignedAt?.getTime()}`;
        if (seen.has(assignment)) continue;
        seen.add(assignment);
        observed.assignments.push({ queueId: queueId ?? "", jobId: id, fromMs, untilMs });
      }
      if (rows) {
        fromMs = beganMs;
        observed.waitingJobs = rows.waiting;
        observed.leaseLooks++;
        for (const { jobId, agentId, holderId } of rows.doubled)
          observed.doubleLeases.push({ jobId, agentIds: [agentId, holderId], atMs: untilMs });
      }
      await lane.pause(lookEveryMs);
    }
  });
}

async function readAssigned(db: Services["db"]) {
  const { agents, jobs } = db.tables;
  const { id, queueId, assignedAt } = jobs;
  const assigned = await db.select({ id, queueId, assignedAt }).from(jobs).where(isNotNull(assignedAt));
  const [row] = await db.select({ total: count() }).from(jobs).where(eq(jobs.state, "scheduled"));
  // One statement sees one moment.
  const doubled = await db
    .select({ jobId: id, agentId: agents.id, holderId: jobs.agentId })
    .from(agents)
    .innerJoin(jobs, eq(id, agents.jobId))
    .where(or(isNull(jobs.agentId), ne(jobs.agentId, agents.id)));
  return { assigned, waiting: row?.total ?? 0, doubled };
}
