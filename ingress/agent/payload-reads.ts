import { setTimeout as sleep } from "node:timers/promises";
import type { H3Event } from "h3";
import type { Build } from "../../shared/builds/rows/build-store.ts";
import { secondMs } from "../../shared/durations.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { shares } from "../../shared/sharing/bounds.ts";
import { Shares } from "../../shared/sharing/shares.ts";
import { limitPayloadReads } from "../http/limits/limits.ts";

const maxWaitMs = 6 * secondMs;

/**
 * Limits the reads of a build's webhook payload. A refused reader is held for a while and then tried again: agents
 * repeat a refused read ten times in 45 seconds, which a limit of a minute would outlast.
 */
export class PayloadReads {
  readonly #services: Services;
  readonly #held = new Shares(shares.heldReads);

  constructor(services: Services) {
    this.#services = services;
  }

  /** @throws Refusal 429; when the caller disconnects */
  async admit(event: H3Event, { id, organizationId }: Pick<Build, "id" | "organizationId">): Promise<void> {
    try {
      await limitPayloadReads(this.#services, event, id);
    } catch (error) {
      const waitMs = error instanceof Refusal ? Number(error.headers["Retry-After"]) * secondMs : Number.NaN;
      const place = waitMs > 0 ? this.#held.take({ build: id, organization: organizationId }) : "owner";
      if (typeof place === "string") throw error;
      const wait = sleep(Math.min(waitMs, maxWaitMs), undefined, { signal: event.req.signal, ref: false });
      await wait.finally(() => this.#held.release(place));
      await limitPayloadReads(this.#services, event, id);
    }
  }
}
