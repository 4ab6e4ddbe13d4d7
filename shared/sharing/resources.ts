import { setImmediate as nextTurn } from "node:timers/promises";
import { secondMs } from "../durations.ts";
import { Threads } from "../process/threads.ts";
import { resources } from "./bounds.ts";
import { openGatherers } from "./gatherer.ts";
import { openOrder } from "./in-order.ts";
import { presentOwner } from "./owner.ts";
import { countWait } from "./present-turn.ts";
import { openTurns } from "./turns.ts";

/** The event loop. */
const loop = openTurns(resources.loop);
/** The threads of the process: those of Node, for compression, hashes and files, and those that the project starts. */
export const threads = openTurns(resources.threads);
/** Runs functions in threads: one for each slot of `threads`, so that no task with a slot waits. */
export const workerThreads = new Threads({
  max: resources.threads.max,
  deadlineMs: 5 * secondMs,
  handleWait: countWait,
});
/** Transactions that add many rows. */
export const writes = openTurns(resources.writes);
/** Work that no caller waits for. */
export const laterWork = openTurns(resources.later);
/** The making of answers that are read piece by piece. */
export const longReads = openTurns(resources.longReads);

/**
 * Resolves in a turn of the event loop that the owner has a slot in: what follows at once should take a millisecond. The
 * signal ends the wait: it rejects with the signal's reason.
 * @throws Refusal 503 if too many wait
 */
export const loopTurn = openLoopTurn(loop);

const shortPerSlot = 8;
/** Most requests take a tenth of a millisecond, and some ten: beyond this time of a turn, a slot begins one request only. */
const { sliceMs: shortMs } = resources.loop;

interface ShortRequest {
  owner: string;
  begin: () => void;
}

const shortRequests = openGatherers<ShortRequest>(({ owner }) => owner, {
  // Requests that have begun hear no refusal of the others.
  flush: (requests) => beginInTurns(requests).catch((refusal) => requests.map(() => refusal)),
  when: async (countWaiting) => void (countWaiting() < shortPerSlot && (await nextTurn())),
  maxItems: shortPerSlot,
  overlaps: true,
});

/**
 * As `loopTurn`, for a request that mostly takes a tenth of a millisecond. Those of an owner that come together share a
 * slot, so that more of them share a transaction, too: with a slot each, 200 agents took twice as many.
 */
export function shortLoopTurn(owner: string): Promise<void> {
  return new Promise((resolve, reject) => {
    shortRequests.add({ owner, begin: resolve }).catch(reject);
  });
}

async function beginInTurns(requests: ShortRequest[]): Promise<void> {
  for (const [index, { owner, begin }] of requests.entries()) {
    if (index === 0 || performance.now() - turnBeganAt >= shortMs) await loopTurn(owner);
    begin();
    await new Promise<void>((resolve) => process.nextTick(resolve)); // it has done what it does at once
  }
}

/** @param turns default: of their own, with the same bounds */
export function openLoopTurn(
  turns = openTurns(resources.loop),
): (owner: string, signal?: AbortSignal) => Promise<void> {
  return (owner, signal) => beginIn((begin) => turns.take(owner, begin, signal));
}

/** Resolves once it has begun, and keeps its slot until the next turn of the event loop. */
function beginIn(take: (begin: () => Promise<void>) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      noteTurn();
      resolve();
      return nextTurn();
    };
    take(begin).catch(reject);
  });
}

/** When the first slot of the present turn of the event loop was taken. */
let turnBeganAt = 0;
let isNoted = false;

/** Call it before `nextTurn`: the next turn then begins before any of its slots. */
function noteTurn(): void {
  if (isNoted) return;
  isNoted = true;
  turnBeganAt = performance.now();
  setImmediate(() => {
    isNoted = false;
  });
}

const slices = openOrder();

/** As `loopTurn`, for several milliseconds: no other slice of the owner is in the same turn of the event loop. */
function sliceTurn(owner: string): Promise<void> {
  return beginIn((begin) => slices(owner, () => loop.take(owner, begin)));
}

/** Takes a turn, if the size of the next step needs one. */
export type TakeSlice = (size: number) => Promise<void> | undefined;

/**
 * Cuts long work into slices, for which the present owner takes turns.
 * @param options.isBegun the first slice is in the present turn: most of the work is one. Default: false
 * @returns a function to await before each step of the work, with the size of the step
 */
export function openSlices(maxSize: number, { isBegun = false } = {}): TakeSlice {
  const owner = presentOwner();
  let left = 0;
  const use = (size: number) => {
    left = size;
    // The rest of a slice would come on top of others' in a later turn.
    setImmediate(() => {
      left = 0;
    });
  };
  const begin = async (size: number) => {
    await (owner === undefined ? nextTurn() : sliceTurn(owner));
    use(maxSize - size);
  };
  if (isBegun) use(maxSize);
  return (size) => {
    if (size > left) return begin(size);
    left -= size;
    return undefined;
  };
}
