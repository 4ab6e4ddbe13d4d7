import type { RateLimiter, RateLimits } from "../redis/rate-limiter.ts";
import type { Config } from "../settings/config.ts";
import { type WindowBound, windows } from "../sharing/bounds.ts";

interface Limited {
  rateLimiter: RateLimiter;
  config: Pick<Config, "mailsPerHour">;
}

/** The mails of an organization in an hour, and those to one address. */
function limitsOf(
  { config }: Limited,
  { organizationId, to }: { organizationId: string; to: string },
): RateLimits {
  const limit = (name: "mails" | "mails-to", subject: string) => {
    const { factor, windowMs }: WindowBound = windows[name];
    return { name, subject, limit: Math.floor(config.mailsPerHour * factor), windowMs };
  };
  return [limit("mails", organizationId), limit("mails-to", to.toLowerCase())];
}

/**
 * Returns the milliseconds that a mail has to wait. 0: it may be sent now.
 * @param takes it is sent now, and counts
 */
export async function mailWaitMs(
  limited: Limited,
  mail: { organizationId: string; to: string },
  { takes }: { takes: boolean },
): Promise<number> {
  const { rateLimiter } = limited;
  const limits = limitsOf(limited, mail);
  if (takes) {
    const { admitted, resetMs } = await rateLimiter.admit(...limits);
    return admitted ? 0 : resetMs;
  }
  const states = await Promise.all(limits.map((limit) => rateLimiter.peek(limit)));
  return Math.max(...states.map(({ remaining, resetMs }) => (remaining > 0 ? 0 : resetMs)));
}
