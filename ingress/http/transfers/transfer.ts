import { secondMs } from "../../../shared/durations.ts";
import { isAlone } from "../../../shared/sharing/presence.ts";
import type { Full, Holder, Owners, Shares } from "../../../shared/sharing/shares.ts";

/** A transfer may pause for a second before it counts as slow. */
const minSlowMs = secondMs;
const measureEveryMs = secondMs;
/** A socket is read for up to two megabytes in one turn of the event loop. */
export const pauseBytes = 64 * 1024;
/** Of an owner who is alone, whose pauses let nobody in. */
const pauseBytesAlone = 128 * 1024;

/** Returns true if an owner of whose body so many bytes moved since its last turn of the event loop needs another. */
export function isPauseDue(bytes: number, ownerOf: () => string): boolean {
  return bytes >= pauseBytes && (bytes >= pauseBytesAlone || !isAlone(ownerOf()));
}

/** The room of transfers in memory. Slow ones give way to others. */
export interface TransferRoom {
  shares: Shares;
  minBytesPerSecond: number;
  /** A transfer that is slow for longer is cut. */
  graceMs: number;
}

export interface TransferOptions {
  owners: Owners;
  /** Each owner may always have one transfer of this size. */
  maxBytes: number;
  /** Ends a slow transfer. */
  cut: () => void;
}

/** Transfers of which the other side has to read or send now. */
const moving = new Set<Transfer>();
let timer: NodeJS.Timeout | undefined;

/** A body that comes in or goes out. Its speed counts from its mark, so that a fast start does not excuse a stall. */
export class Transfer implements Holder {
  readonly owners: Owners;
  readonly minShare: number;
  /** Bytes in memory. */
  held = 0;
  readonly #room: TransferRoom;
  readonly #cut: () => void;
  #markedAt = 0;
  #movedSinceMark = 0;

  constructor(room: TransferRoom, { owners, maxBytes, cut }: TransferOptions) {
    this.#room = room;
    this.owners = owners;
    this.minShare = maxBytes;
    this.#cut = cut;
  }

  /** Adds bytes. @returns the bound in the way, if there is no room */
  grow(bytes: number): Full | undefined {
    return this.#room.shares.grow(this, bytes);
  }

  /** Adds bytes that are in memory already. */
  force(bytes: number): void {
    this.#room.shares.force(this, bytes);
  }

  end(): void {
    this.stop();
    this.#room.shares.release(this);
  }

  /** Starts the measurement of speed: the other side has to read or send now. */
  start(): void {
    this.#mark(performance.now());
    moving.add(this);
    timer ??= setInterval(measureAll, measureEveryMs).unref();
  }

  move(bytes: number): void {
    this.#movedSinceMark += bytes;
  }

  stop(): void {
    moving.delete(this);
  }

  /** The bytes that it lacks. */
  reasonsToLeave(): number {
    return this.#lag(performance.now());
  }

  leave(): void {
    this.stop();
    this.#cut();
  }

  /** Sets a new mark if it has been fast enough since the last one. */
  measure(now: number): void {
    const ms = now - this.#markedAt;
    if (ms < minSlowMs) return;
    if (this.#lag(now) <= 0) this.#mark(now);
    else if (ms >= this.#room.graceMs) {
      this.end();
      this.#cut();
    }
  }

  #mark(now: number): void {
    this.#markedAt = now;
    this.#movedSinceMark = 0;
  }

  #lag(now: number): number {
    const ms = now - this.#markedAt;
    if (ms < minSlowMs || !moving.has(this)) return 0;
    return (this.#room.minBytesPerSecond * ms) / secondMs - this.#movedSinceMark;
  }
}

function measureAll(): void {
  const now = performance.now();
  for (const transfer of moving) transfer.measure(now);
  if (moving.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
