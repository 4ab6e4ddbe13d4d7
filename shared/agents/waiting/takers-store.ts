import { and, eq, inArray, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Db } from "../../db/database.ts";
import { isOneOf, isPostgres, prepared } from "../../db/prepared.ts";
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

export type Taker = Awaited<ReturnType<typeof selectTakers>>[number];

/**
 * Connected agents of queues that jobs are handed to, also while they are paused or about to stop: of each queue so many
 * at most.
 */
export const listTakers = prepared<{ queueIds: string[]; limit: number }, Taker, Db>(selectTakers);

function selectTakers(db: Db) {
  const { agents, queues } = db.tables;
  const { queueId, jobId, metaData, pausedAt, pausedUntil, stopRequestedAt } = agents;
  const some = alias(agents, "some");
  const ofQueue = db
    .select({ id: some.id })
    .from(some)
    .where(and(eq(some.queueId, queues.id), eq(some.state, "connected"), eq(some.ignoreInDispatches, false)))
    .limit(sql.placeholder("limit"));
  // For `in`, Postgres would read all agents.
  const isAmong = isPostgres(agents.id)
    ? sql`${agents.id} = any(array(${ofQueue}))`
    : inArray(agents.id, ofQueue);
  return db
    .select({ queueId, jobId, metaData, pausedAt, pausedUntil, stopRequestedAt })
    .from(queues)
    .innerJoin(agents, isAmong)
    .where(isOneOf(queues.id, "queueIds"));
}
