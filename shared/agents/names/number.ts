import type { Tx } from "../../db/database.ts";
import type { Agent } from "../store.ts";
import { findFreeNumber, isNamed } from "./store.ts";

/**
 * Fills the `%n` in the names of new agents: each gets the lowest number that no agent which has not disconnected has
 * with the same rest of the name. Call with their organization locked, and store them in the same transaction.
 */
export async function numberNames(tx: Tx, agents: Agent[]): Promise<Agent[]> {
  const taken = new Set(agents.flatMap(({ namePattern, name }) => (namePattern === null ? name : [])));
  const nextOf = new Map<string, number>();
  const named: Agent[] = [];
  for (const agent of agents) named.push(await numberName(agent));
  return named;

  async function numberName(agent: Agent): Promise<Agent> {
    const { organizationId, namePattern: pattern } = agent;
    if (pattern === null) return agent;
    for (let from = nextOf.get(pattern) ?? 1; ; ) {
      const number = await findFreeNumber(tx, { organizationId, pattern, from });
      const name = pattern.replaceAll("%n", String(number));
      from = number + 1;
      nextOf.set(pattern, from);
      if (!taken.has(name) && !(await isNamed(tx, { organizationId, pattern: name })))
        return { ...agent, name, nameNumber: number };
    }
  }
}
