import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import type { Agent } from "../store.ts";

/** The agent that had a job when it was lost, unless it has asked for another one since. */
export async function findAgentThatLost(
  db: Db,
  { id, queueId }: { id: string; queueId: string | null },
): Promise<Pick<Agent, "id" | "name"> | undefined> {
  const { agents } = db.tables;
  const isOfQueue = and(eq(agents.queueId, queueId ?? ""), inArray(agents.state, ["connected", "lost"]));
  const [found] = await db.offLoop
    .select({ id: agents.id, name: agents.name })
    .from(agents)
    .where(and(isOfQueue, eq(agents.lostJobId, id)))
    .limit(1);
  return found;
}

export type Taker = Awaited<ReturnType<typeof listTakers>>[number];

/** Connected agents of a queue that jobs are handed to, also while they are paused or about to stop. */
export async function listTakers(db: Db, queueId: string, limit: number) {
  const { agents } = db.tables;
  const { jobId, metaData, pausedAt, pausedUntil, stopRequestedAt } = agents;
  const isOfQueue = and(eq(agents.queueId, queueId), eq(agents.state, "connected"));
  return db
    .select({ jobId, metaData, pausedAt, pausedUntil, stopRequestedAt })
    .from(agents)
    .where(and(isOfQueue, eq(agents.ignoreInDispatches, false)))
    .limit(limit);
}
