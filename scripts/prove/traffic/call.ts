import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, request } from "../../scratch/http.ts";
import type { Timeline } from "../timeline.ts";

const answerWithinMs = 8000;
const pagesWithinMs = 15_000;

/** One request and its answer, for stories. Times are milliseconds since the start. */
export interface Attempt {
  fromMs: number;
  untilMs: number;
  /** The request and its address. */
  request: string;
  /** A status, or why there was no answer. */
  answer: string;
}

/** Without an answer the request may have been carried out or not. */
export type Outcome = Answer | { status: undefined };

export interface Caller {
  timeline: Timeline;
  attempts: Attempt[];
}

/** Sends a request once. Does not throw. */
export async function call(
  { timeline, attempts }: Caller,
  url: string,
  init: RequestInit & { name: string },
): Promise<Outcome> {
  const fromMs = timeline.nowMs();
  const signal = AbortSignal.timeout(answerWithinMs);
  const record = (answer: string) =>
    attempts.push({
      fromMs,
      untilMs: timeline.nowMs(),
      request: `${init.name} at ${new URL(url).host}`,
      answer,
    });
  try {
    const answer = await request(url, { redirect: "manual", ...init, signal });
    record(`${answer.status} ${answer.body?.id ?? answer.body?.error ?? ""}`.trim());
    return answer;
  } catch (error) {
    record(`no answer: ${causeOf(error)}`);
    return { status: undefined };
  }
}

/** Visits pages once. Does not throw. @param go returns what the pages answered */
export async function visit(
  { timeline, attempts }: Caller,
  url: string,
  name: string,
  go: () => Promise<string>,
): Promise<string> {
  const fromMs = timeline.nowMs();
  const late = sleep(pagesWithinMs, "no answer", { ref: false });
  const answer = await Promise.race([go(), late]).catch((error: Error) => `no answer: ${error.message}`);
  attempts.push({ fromMs, untilMs: timeline.nowMs(), request: `${name} at ${new URL(url).host}`, answer });
  return answer;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message;
  return error.name === "TimeoutError" ? `none within ${answerWithinMs / 1000} s` : error.message;
}
