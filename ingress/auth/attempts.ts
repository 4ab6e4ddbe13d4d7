import type { Attempt } from "../../shared/agents/lease.ts";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { minuteMs } from "../../shared/durations.ts";
import { rememberRecent } from "../../shared/sharing/recent.ts";

const maxAttempts = 10_000;
const rememberedMs = 10 * minuteMs;

/** Remembers attempts: a job's calls would otherwise each read three rows, on a connection that writes made cold. */
export class Attempts {
  readonly #byTokenHash = rememberRecent<Attempt>(maxAttempts, { ttl: rememberedMs, updateAgeOnGet: true });

  find(jobToken: string): Attempt | undefined {
    return this.#byTokenHash.get(hashToken(jobToken));
  }

  remember(jobToken: string, attempt: Attempt): void {
    this.#byTokenHash.set(hashToken(jobToken), attempt);
  }
}
