import { defineHandler, type H3Event } from "h3";
import { openLogIntake } from "../../shared/agents/logs/append.ts";
import { chunkTooLarge, maxChunkBytes } from "../../shared/agents/logs/codec.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal } from "../../shared/refusal.ts";
import { requireJobCall } from "../auth/agent.ts";
import type { Attempts } from "../auth/attempts.ts";
import type { Bodies } from "../http/body.ts";
import { keepOutOfLog } from "../http/request-context.ts";

/** Gzip adds a few bytes to what it cannot compress. */
const maxBodyBytes = maxChunkBytes + 4096;
const maxSequence = 2 ** 31 - 1;

/** Handlers of a job's log. Agents drop for good what is answered 4xx, and send again after a 503. */
export function logHandlers(
  services: Services,
  { bodies, attempts }: { bodies: Bodies; attempts: Attempts },
) {
  const intake = openLogIntake(services);

  return {
    /** POST /v3/jobs/:id/chunks?sequence&offset&size: a piece of the log, as gzip or plain. */
    chunks: defineHandler(async (event) => {
      const { lease, organizationId } = await attempts.require(event);
      keepOutOfLog(event);
      const sequence = requireNumber(event, "sequence", maxSequence);
      const start = requireNumber(event, "offset", Number.MAX_SAFE_INTEGER);
      const isGzip = requireEncoding(event) === "gzip";
      using body = await bodies.read(event, maxBodyBytes, chunkTooLarge, { organizationId });
      const chunk = { sequence, start, body: body.bytes, isGzip };
      await intake.append({ ...lease, organizationId }, chunk);
      return {};
    }),

    /** POST /v3/jobs/:id/header_times: of agents that put no times into their logs. Not kept. */
    headerTimes: defineHandler(async (event) => {
      await requireJobCall(services, event);
      keepOutOfLog(event);
      return {};
    }),
  };
}

function requireNumber(event: H3Event, name: string, max: number): number {
  const given = event.url.searchParams.get(name) ?? "";
  const value = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (!(value <= max)) throw new Refusal(400, `${name} must be a whole number`);
  return value;
}

function requireEncoding({ req }: H3Event): "gzip" | "identity" {
  const encoding = req.headers.get("content-encoding") ?? "identity";
  if (encoding !== "gzip" && encoding !== "identity")
    throw new Refusal(415, "Content-Encoding must be gzip or identity");
  return encoding;
}
