import { hourMs, minuteMs, secondMs } from "../durations.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import { readRetryAfterMs } from "../outgoing/retry-after.ts";

// The meaning of a host's answer to a status.

export type Meaning =
  | { type: "done" }
  /** The host wants no requests of this token before then. */
  | { type: "slow_down"; until: Date; problem: string }
  /** The token, or its right to this repository, is refused. */
  | { type: "refused"; isToken: boolean; problem: string }
  /** This status is not taken. Others may be. */
  | { type: "not_taken"; problem: string }
  /** The host has a fault of its own. */
  | { type: "faulty"; problem: string };

/** A host is asked again within an hour, whatever time it names. */
const maxRestMs = hourMs;
const minRestMs = 10 * secondMs;

/** Reads an answer. The problem repeats nothing of its text, since hosts repeat what they were sent. */
export function meaningOf({ status, headers, text }: OutgoingAnswer, now: Date): Meaning {
  if (status >= 200 && status < 300) return { type: "done" };
  if (status === 400 && /cannot transition status/i.test(text)) return { type: "done" }; // GitLab: it has that state
  const said = `The host answered ${status}`;
  if (status === 429 || (status === 403 && isLimited(headers)))
    return { type: "slow_down", until: endOfLimit(headers, now), problem: `${said}: too many requests` };
  if (status === 401)
    return { type: "refused", isToken: true, problem: `${said}: the token is wrong or was revoked` };
  if (status === 403 || status === 404)
    return {
      type: "refused",
      isToken: false,
      problem: `${said}: the token may not set statuses in this repository, or there is no such repository or commit`,
    };
  if (status >= 500 || status === 408) return { type: "faulty", problem: said };
  if (status >= 300 && status < 400)
    return { type: "not_taken", problem: `${said}: the repository has another address now` };
  return { type: "not_taken", problem: said };
}

type Headers = OutgoingAnswer["headers"];

/** GitHub refuses with 403, too: by the hour, and for a while if requests come too fast. */
function isLimited(headers: Headers): boolean {
  return headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"] === "0";
}

function endOfLimit(headers: Headers, now: Date): Date {
  const restMs = readRetryAfterMs(headers["retry-after"], now) ?? readResetMs(headers, now) ?? minuteMs;
  return new Date(now.getTime() + Math.min(Math.max(restMs, minRestMs), maxRestMs));
}

/** Reads the second at which GitHub's, Gitea's or GitLab's window ends. @returns the milliseconds from now */
function readResetMs(headers: Headers, now: Date): number | undefined {
  const given = headers["x-ratelimit-reset"] ?? headers["ratelimit-reset"];
  if (typeof given !== "string" || !/^\d{10}$/.test(given)) return undefined;
  return Number(given) * secondMs - now.getTime();
}
