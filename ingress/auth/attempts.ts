import type { H3Event } from "h3";
import { LRUCache } from "lru-cache";
import type { Accepted, Attempt } from "../../shared/agents/lease.ts";
import { hashToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { minuteMs } from "../../shared/durations.ts";
import type { Services } from "../../shared/process/services.ts";
import { notFound } from "../../shared/refusal.ts";
import { pathParameter } from "../http/routing.ts";
import { agentToken, type JobCall, requireJobCall } from "./agent.ts";

export interface Attempts {
  /**
   * The attempt that a job's call is about. It may have ended: a caller that writes checks the lease.
   * @throws Refusal 401; 404 for any other job
   */
  require(event: H3Event): Promise<Attempt>;
  /** Spares the read of a token that was just issued. */
  remember(accepted: Accepted): void;
}

const maxAttempts = 10_000;
const rememberedMs = 10 * minuteMs;

/** Remembers attempts: a job's calls would otherwise each read three rows, on a connection that writes made cold. */
export function openAttempts(services: Services): Attempts {
  const known = new LRUCache<string, Attempt>({ max: maxAttempts, ttl: rememberedMs });

  return {
    async require(event) {
      const token = agentToken(event) ?? "";
      const hash = hashToken(token);
      const attempt = known.get(hash) ?? toAttempt(await requireJobCall(services, event));
      // A session has one job after the other.
      if (isWellFormedToken("job", token)) known.set(hash, attempt);
      if (attempt.lease.jobId !== pathParameter(event, "id")) throw notFound("job");
      return attempt;
    },
    remember({ job, build, token }) {
      const { id: jobId, agentId, attempt } = job;
      if (agentId !== null)
        known.set(hashToken(token), toAttempt({ build, lease: { jobId, agentId, attempt } }));
    },
  };
}

function toAttempt({ build, lease }: Pick<JobCall, "build" | "lease">): Attempt {
  return { lease, buildId: build.id, organizationId: build.organizationId };
}
