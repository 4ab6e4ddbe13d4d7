import type { H3Event } from "h3";
import { z } from "zod";
import { openLogIntake } from "../../shared/agents/logs/append.ts";
import { beginsAsGzip, chunkTooLarge, maxChunkBytes } from "../../shared/agents/logs/codec.ts";
import { patterns } from "../../shared/paths.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { done, tag } from "./answers.ts";

/** Gzip adds a few bytes to what it cannot compress. */
const maxBodyBytes = maxChunkBytes + 4096;
const maxSequence = 2 ** 31 - 1;

/** The calls of a job's log. Agents drop for good what is answered 4xx, and send again after a 503. */
export function logOperations(services: Services): Operation[] {
  const intake = openLogIntake(services);
  return [
    operation({
      tag,
      caller: "attempt",
      methods: ["POST"],
      path: patterns.jobChunks,
      id: "sendJobLog",
      summary: "Send a piece of a job's log",
      description:
        "Pieces may come in any order and more than once. They have at most 102,400 bytes, which may be compressed.",
      query: {
        sequence: z
          .int()
          .min(0)
          .optional()
          .meta({ description: "Number of the piece, from 1. Default: by its place" }),
        offset: z
          .int()
          .min(0)
          .optional()
          .meta({ description: "Byte of the uncompressed log at which it begins. Default: its end" }),
        size: z.int().min(0).optional().meta({ description: "Its uncompressed bytes" }),
      },
      headers: {
        "Content-Encoding": z.enum(["gzip", "identity"]).meta({ description: "Default: identity" }),
      },
      rawBody: { schema: z.string(), mediaType: "text/plain" },
      success: done,
      refusals: {
        400: ["The body is damaged gzip"],
        413: ["The piece is too large"],
        415: ["Another encoding than gzip or identity"],
        422: ["The piece cannot be kept"],
      },
      isQuiet: true,
      run: async ({ attempt: { lease, organizationId }, event, readBytes }) => {
        const start = findNumber(event, "offset", Number.MAX_SAFE_INTEGER);
        const sequence = findNumber(event, "sequence", maxSequence);
        const saysGzip = requireEncoding(event) === "gzip";
        using body = await readBytes(maxBodyBytes, chunkTooLarge);
        const isGzip = saysGzip && beginsAsGzip(body.bytes); // a proxy may have inflated it
        await intake.append({ ...lease, organizationId }, { sequence, start, body: body.bytes, isGzip });
        return {};
      },
    }),
    // Of agents that put no times into their logs.
    operation({
      tag,
      caller: "job",
      methods: ["POST"],
      path: patterns.jobHeaderTimes,
      id: "sendHeaderTimes",
      summary: "Send the times of a log's headers, which are not kept",
      success: done,
      isQuiet: true,
      run: async () => ({}),
    }),
  ];
}

/** Undefined: it is missing, or no whole number up to `max`. */
function findNumber(event: H3Event, name: string, max: number): number | undefined {
  const given = event.url.searchParams.get(name)?.trim() ?? "";
  const value = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  return value <= max ? value : undefined;
}

function requireEncoding({ req }: H3Event): "gzip" | "identity" {
  const encoding = (req.headers.get("content-encoding") || "identity").toLowerCase();
  if (encoding === "gzip" || encoding === "x-gzip") return "gzip"; // RFC 9110 §8.4.1.3
  if (encoding === "identity") return encoding;
  throw new Refusal(415, "Content-Encoding must be gzip or identity");
}
