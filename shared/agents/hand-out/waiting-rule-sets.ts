import type { Db } from "../../db/database.ts";
import { matcherOf, parseAgentRules } from "../../pipelines/agent-rules.ts";
import { listTags, type PingingAgent } from "../store.ts";
import { listWaitingRuleSets, maxRuleSets } from "./waiting-store.ts";

/** Finds the sets of agent rules of waiting jobs that agents fulfil. Jobs of one step have the same set. */
export interface WaitingRuleSets {
  /** @returns the rule sets of waiting jobs that the agent fulfils, by the id of the agent; absent: there are none */
  find(agents: PingingAgent[]): Promise<Map<string, string[]>>;
}

const shareReadAgain = 0.3;

/**
 * A queue with very many rule sets is read in parts, one after the other: each read costs the same, and every set has
 * its turn within some reads. Some parts are read twice, by chance: else agents that ping in turns could see the same
 * part each time.
 */
export function openWaitingRuleSets(db: Db): WaitingRuleSets {
  /** Where the next read of a queue begins, of those with more rule sets than one read has. */
  const continueFrom = new Map<string, string>();

  const readRuleSets = async (queueIds: string[]): Promise<Map<string, string[]>> => {
    const byStart = Map.groupBy(queueIds, (id) => continueFrom.get(id) ?? "");
    const found = await Promise.all(
      [...byStart].map(([from, ids]) => listWaitingRuleSets(db, { ids, from })),
    );
    const ruleSets = new Map<string, string[]>();
    for (const { queueId, agentRules } of found.flat())
      ruleSets.set(queueId, [...(ruleSets.get(queueId) ?? []), agentRules]);
    for (const id of queueIds) {
      const last = ruleSets.get(id)?.[maxRuleSets - 1];
      const isReadAgain = continueFrom.has(id) && Math.random() < shareReadAgain;
      if (isReadAgain) continue;
      if (last === undefined) continueFrom.delete(id);
      else continueFrom.set(id, last);
    }
    return ruleSets;
  };

  return {
    async find(agents) {
      const queueIds = [...new Set(agents.map(({ queueId }) => queueId))];
      const ruleSets = queueIds.length > 0 ? await readRuleSets(queueIds) : new Map<string, string[]>();
      const choosing = agents.filter(({ queueId }) =>
        ruleSets.get(queueId)?.some((agentRules) => agentRules !== ""),
      );
      const tags = new Map<string, string[]>();
      if (choosing.length > 0)
        for (const { id, metaData } of await listTags(db, { ids: choosing.map(({ id }) => id) }))
          tags.set(id, metaData);
      return chooseRuleSets(agents, ruleSets, tags);
    },
  };
}

/** Agents of one fleet have the same tags: what they may take is found once. */
function chooseRuleSets(
  agents: PingingAgent[],
  ruleSets: Map<string, string[]>,
  tags: Map<string, string[]>,
): Map<string, string[]> {
  const known = new Map<string, string[]>();
  const parsed = new Map(
    [...ruleSets.values()].flat().map((agentRules) => [agentRules, parseAgentRules(agentRules)]),
  );
  return new Map(
    agents.flatMap(({ id, queueId }): [string, string[]][] => {
      const own = tags.get(id) ?? [];
      const key = `${queueId} ${own.join("\n")}`;
      const matches = known.has(key) ? undefined : matcherOf(own);
      const fulfilled =
        known.get(key) ??
        (ruleSets.get(queueId) ?? []).filter((agentRules) => matches?.(parsed.get(agentRules) ?? []));
      known.set(key, fulfilled);
      return fulfilled.length > 0 ? [[id, fulfilled]] : [];
    }),
  );
}
