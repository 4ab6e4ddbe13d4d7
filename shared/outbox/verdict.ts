import { hourMs, minuteMs, secondMs } from "../durations.ts";
import type { OutgoingAnswer } from "../outgoing/read-answer.ts";
import { readRetryAfterMs } from "../outgoing/retry-after.ts";
import type { Verdict } from "./kind.ts";

/** The rests after the first failures. Later ones last an hour. */
const rests = [10 * secondMs, minuteMs, 5 * minuteMs, 15 * minuteMs];
const maxRestMs = hourMs;
/** With these a receiver says that it cannot take anything now. A redirect is not followed: the address is wrong. */
const ofReceiver = (status: number) => status >= 500 || status < 400 || [408, 425, 429].includes(status);

/** Says what an answer means for its message. */
export function judge({ status, headers }: OutgoingAnswer, now: Date): Verdict {
  if (status >= 200 && status < 300) return { outcome: "sent" };
  const problem = `It answered ${status}`;
  if (!ofReceiver(status)) return { outcome: "message_rests", problem };
  const restMs = readRetryAfterMs(headers["retry-after"], now) ?? 0;
  if (restMs <= 0) return { outcome: "receiver_rests", problem };
  return { outcome: "receiver_rests", problem, until: new Date(now.getTime() + Math.min(restMs, maxRestMs)) };
}

/** Returns when to try again. @param failures so far, this one included */
export function nextTry(failures: number, now: Date, until?: Date): Date {
  return until ?? new Date(now.getTime() + (rests[failures - 1] ?? maxRestMs));
}
