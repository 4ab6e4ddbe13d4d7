import { turns as bounds } from "../sharing/bounds.ts";
import { openTurns } from "../sharing/turns.ts";

const turns = openTurns(bounds.newJobs);

/**
 * Adds jobs for callers that wait for them, one of an organization at a time, with rests.
 * @throws Refusal 503 if 50 wait
 */
export function storeInTurn<Result>(organizationId: string, store: () => Promise<Result>): Promise<Result> {
  return turns.take(organizationId, store);
}
