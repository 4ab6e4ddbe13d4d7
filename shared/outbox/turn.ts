import { secondMs } from "../durations.ts";
import { shares } from "../sharing/bounds.ts";
import { rememberRecent } from "../sharing/recent.ts";
import type { Holder } from "../sharing/shares.ts";
import { WaitingShares } from "../sharing/waiting-shares.ts";

/** A receiver is sent some of its messages, which have reads in common. */
export interface Turn {
  /** Reads once a second what several messages need. Keep it small: it stays in memory. */
  share<Value>(key: string, read: () => Promise<Value>): Promise<Value>;
}

/** The part of a turn in which one message is made and sent. */
export interface MessageTurn extends Turn {
  /**
   * Call it before so many bytes are read. It waits for room in memory, if they are many.
   * @throws NoRoom after a while
   */
  hold(bytes: number): Promise<void>;
}

/** Others are sent first. The message waits for another turn. */
export class NoRoom extends Error {}

const maxShared = 100;
/** Smaller ones are not counted. */
const minHeldBytes = 256 * 1024;
/** The receiver is taken for a minute. */
const maxWaitMs = 10 * secondMs;
/** A body exists in parts, as a text, and as the bytes that are sent. */
const copies = 3;

const bodies = new WaitingShares(shares.messageBodies);

export function openTurn(): Turn {
  const known = rememberRecent<Promise<unknown>>(maxShared, { ttl: secondMs });
  return {
    share<Value>(key: string, read: () => Promise<Value>) {
      const before = known.get(key) as Promise<Value> | undefined;
      if (before) return before;
      const found = read();
      known.set(key, found);
      found.catch(() => known.delete(key));
      return found;
    },
  };
}

/** Runs the making and sending of a message, and frees then what it held. */
export async function inMessageTurn<Result>(
  turn: Turn,
  organization: string,
  work: (turn: MessageTurn) => Promise<Result>,
): Promise<Result> {
  const held: Holder[] = [];
  const hold = async (bytes: number) => {
    if (bytes < minHeldBytes) return;
    const holder = await bodies.take({ organization }, copies * bytes, maxWaitMs);
    if (!holder) throw new NoRoom("There is no room for a large message.");
    held.push(holder);
  };
  try {
    return await work({ ...turn, hold });
  } finally {
    for (const holder of held) bodies.release(holder);
  }
}
