import { turns as bounds } from "../../shared/sharing/bounds.ts";
import { openLoopTurns } from "../../shared/sharing/loop-turns.ts";

/**
 * Resolves in a turn of the event loop in which few other requests of this owner begin. Others need not wait for all
 * that a single owner sends at once.
 */
export const loopTurn = openLoopTurns(bounds.beginnings);

/** Like `loopTurn`, without a rest, for calls under /v3. */
export const agentLoopTurn = openLoopTurns(bounds.agentBeginnings);
