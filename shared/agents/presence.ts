import { secondMs } from "../durations.ts";
import type { Services } from "../process/services.ts";
import { createPeriodicFlush } from "../sharing/periodic-flush.ts";
import { listeningEveryMs, markListening } from "./lost.ts";
import { type Agent, connectIfNot, markSeen } from "./store.ts";

/** Stores who was heard, in one statement for all heartbeats of a second. */
export interface Presence {
  record(agentId: string, now: Date): void;
  close(): Promise<void>;
}

/** registered, lost → connected. An agent that comes back has no job: it went to another. */
export async function connectAgent({ db, clock, events, log }: Services, agent: Agent): Promise<void> {
  const connected = await db.transaction((tx) => connectIfNot(tx, agent.id, clock.now()));
  if (!connected) return;
  log.info({ agentId: agent.id, name: agent.name }, "an agent connected");
  events.publish([`cluster:${agent.clusterId}`, `queue:${agent.queueId}`]);
}

const storeEveryMs = secondMs;
const maxAgents = 100_000;

export function openPresence(services: Services): Presence {
  const { db, clock, log } = services;
  const seen = createPeriodicFlush<Date>({
    everyMs: storeEveryMs,
    maxItems: maxAgents,
    whenFull: "drop oldest",
    merge: (_earlier, later) => later,
    store: async (agents) => {
      try {
        await db.transaction((tx) => markSeen(tx, [...agents.keys()], clock.now()));
        return true;
      } catch (error) {
        log.warn({ err: error, agents: agents.size }, "heartbeats could not be stored; they are kept");
        return false;
      }
    },
  });
  const listen = async () => {
    try {
      await markListening(services);
    } catch (error) {
      log.warn({ err: error }, "a sign of life could not be stored");
    }
  };
  void listen();
  const timer = setInterval(listen, listeningEveryMs);
  timer.unref();

  return {
    record: (agentId, now) => seen.add(agentId, now),
    async close() {
      clearInterval(timer);
      await seen.close();
    },
  };
}
