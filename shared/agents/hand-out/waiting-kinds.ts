import type { Db } from "../../db/database.ts";
import { matcherOf, parseRules } from "../../pipelines/agent-rules.ts";
import { listTags, type PingingAgent } from "../store.ts";
import { listWaitingRules, maxKinds } from "./waiting-store.ts";

/** Finds the kinds of waiting jobs that agents may take: the rules of these jobs. */
export interface WaitingKinds {
  /** @returns the rules of waiting jobs that the agent fulfils, by the id of the agent; absent: there are none */
  find(agents: PingingAgent[]): Promise<Map<string, string[]>>;
}

const shareReadAgain = 0.3;

/**
 * A queue with very many kinds is read in parts, one after the other: each read costs the same, and every kind has its
 * turn within some reads. Some parts are read twice, by chance: else agents that ping in turns could see the same part
 * each time.
 */
export function openWaitingKinds(db: Db): WaitingKinds {
  /** Where the next read of a queue begins, of those with more kinds than one read has. */
  const continueFrom = new Map<string, string>();

  const readKinds = async (queueIds: string[]): Promise<Map<string, string[]>> => {
    const byStart = Map.groupBy(queueIds, (id) => continueFrom.get(id) ?? "");
    const found = await Promise.all([...byStart].map(([from, ids]) => listWaitingRules(db, { ids, from })));
    const kinds = new Map<string, string[]>();
    for (const { queueId, rules } of found.flat()) kinds.set(queueId, [...(kinds.get(queueId) ?? []), rules]);
    for (const id of queueIds) {
      const last = kinds.get(id)?.[maxKinds - 1];
      const isReadAgain = continueFrom.has(id) && Math.random() < shareReadAgain;
      if (isReadAgain) continue;
      if (last === undefined) continueFrom.delete(id);
      else continueFrom.set(id, last);
    }
    return kinds;
  };

  return {
    async find(agents) {
      const queueIds = [...new Set(agents.map(({ queueId }) => queueId))];
      const kinds = queueIds.length > 0 ? await readKinds(queueIds) : new Map<string, string[]>();
      const choosing = agents.filter(({ queueId }) => kinds.get(queueId)?.some((rules) => rules !== ""));
      const tags = new Map<string, string[]>();
      if (choosing.length > 0)
        for (const { id, metaData } of await listTags(db, { ids: choosing.map(({ id }) => id) }))
          tags.set(id, metaData);
      return chooseKinds(agents, kinds, tags);
    },
  };
}

/** Agents of one fleet have the same tags: what they may take is found once. */
function chooseKinds(
  agents: PingingAgent[],
  kinds: Map<string, string[]>,
  tags: Map<string, string[]>,
): Map<string, string[]> {
  const known = new Map<string, string[]>();
  const parsed = new Map([...kinds.values()].flat().map((rules) => [rules, parseRules(rules)]));
  return new Map(
    agents.flatMap(({ id, queueId }): [string, string[]][] => {
      const own = tags.get(id) ?? [];
      const key = `${queueId} ${own.join("\n")}`;
      const matches = known.has(key) ? undefined : matcherOf(own);
      const fulfilled =
        known.get(key) ?? (kinds.get(queueId) ?? []).filter((rules) => matches?.(parsed.get(rules) ?? []));
      known.set(key, fulfilled);
      return fulfilled.length > 0 ? [[id, fulfilled]] : [];
    }),
  );
}
