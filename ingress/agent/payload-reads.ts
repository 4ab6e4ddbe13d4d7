import { setTimeout as sleep } from "node:timers/promises";
import type { H3Event } from "h3";
import { secondMs } from "../../shared/durations.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal } from "../../shared/refusal.ts";
import { limitPayloadReads } from "../http/limits.ts";

const maxWaitMs = 6 * secondMs;
const maxWaitingPerBuild = 2;
const maxWaiting = 200;

/**
 * Limits the reads of a build's webhook payload. A refused reader is held for a while and then tried again: agents
 * repeat a refused read ten times in 45 seconds, which a limit of a minute would outlast.
 */
export class PayloadReads {
  readonly #services: Services;
  readonly #waitingOf = new Map<string, number>();
  #waiting = 0;

  constructor(services: Services) {
    this.#services = services;
  }

  /** @throws Refusal 429; when the caller disconnects */
  async admit(event: H3Event, buildId: string): Promise<void> {
    try {
      await limitPayloadReads(this.#services, event, buildId);
    } catch (error) {
      const waitMs = error instanceof Refusal ? Number(error.headers["Retry-After"]) * secondMs : Number.NaN;
      if (!(waitMs > 0) || !this.#hasRoom(buildId)) throw error;
      await this.#wait(event, buildId, Math.min(waitMs, maxWaitMs));
      await limitPayloadReads(this.#services, event, buildId);
    }
  }

  #hasRoom(buildId: string): boolean {
    return this.#waiting < maxWaiting && (this.#waitingOf.get(buildId) ?? 0) < maxWaitingPerBuild;
  }

  async #wait(event: H3Event, buildId: string, ms: number): Promise<void> {
    this.#count(buildId, 1);
    try {
      await sleep(ms, undefined, { signal: event.req.signal, ref: false });
    } finally {
      this.#count(buildId, -1);
    }
  }

  #count(buildId: string, by: 1 | -1): void {
    this.#waiting += by;
    const waiting = (this.#waitingOf.get(buildId) ?? 0) + by;
    if (waiting === 0) this.#waitingOf.delete(buildId);
    else this.#waitingOf.set(buildId, waiting);
  }
}
