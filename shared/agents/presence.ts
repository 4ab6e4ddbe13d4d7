import { secondMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import { openGatherer, openGatherers, pause } from "../sharing/gatherer.ts";
import { listeningEveryMs, markListening } from "./lost.ts";
import { type Agent, connectIfNot, markSeen } from "./store.ts";

/** Stores who was heard, in one statement for all heartbeats of a second. */
export interface Presence {
  record(agentId: string): void;
  /** registered, lost → connected. Agents of an organization that connect together share a commit. */
  connect(agent: Agent): Promise<void>;
  close(): Promise<void>;
}

/** registered, lost → connected. An agent that comes back has no job: it went to another. */
export async function connectAgents({ db, clock, events, log }: Services, agents: Agent[]): Promise<void> {
  const ids = agents.map(({ id }) => id);
  const connected = await db.transaction(async (tx) => connectIfNot(tx, { ids, now: clock.now() }));
  const isConnected = new Set(connected.map(({ id }) => id));
  for (const { id, name, clusterId, queueId } of agents.filter((agent) => isConnected.has(agent.id))) {
    log.info({ agentId: id, name }, "an agent connected");
    events.publish([`cluster:${clusterId}`, `queue:${queueId}`]);
  }
}

const storeEveryMs = secondMs;
const maxAgents = 100_000;
const maxConnecting = 100;

export function openPresence(services: Services): Presence {
  const { db, clock, log } = services;
  const seen = openGatherer<string>({
    when: (_, hurry) => pause(storeEveryMs, hurry),
    keyOf: (agentId) => agentId,
    flush: (agentIds) => db.transaction((tx) => markSeen(tx, agentIds, clock.now())),
    kept: {
      max: maxAgents,
      onFailure: (error, agents) =>
        log.warn({ err: error, agents }, "heartbeats could not be stored; they are kept"),
    },
  });
  const connecting = openGatherers<Agent>(({ organizationId }) => organizationId, {
    maxItems: maxConnecting,
    flush: (agents) => connectAgents(services, agents),
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
    record: seen.put,
    connect: connecting.add,
    async close() {
      clearInterval(timer);
      await seen.flush();
    },
  };
}
