import { unavailable } from "../refusal.ts";
import { openTurns, TurnRefused } from "../sharing/turns.ts";

/** Storing thousands of jobs may take a second, in which others must get to the database. */
const turns = openTurns({ maxRunningPerOwner: 1, restFactor: 2, maxWaitingPerOwner: 50 });
const retryAfterSeconds = 5;

/**
 * Adds jobs for callers that wait for them, one of an organization at a time, with rests.
 * @throws Refusal 503 if 50 wait
 */
export function storeInTurn<Result>(organizationId: string, store: () => Promise<Result>): Promise<Result> {
  return turns.take(organizationId, store).catch((error) => {
    throw error instanceof TurnRefused ? unavailable(retryAfterSeconds) : error;
  });
}
