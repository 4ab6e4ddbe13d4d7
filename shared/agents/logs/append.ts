import { notFound } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { openGatherers } from "../../sharing/gatherer.ts";
import { openOrder } from "../../sharing/in-order.ts";
import { chunkTooLarge, maxChunkBytes } from "./codec.ts";
import { openLogEvents } from "./events.ts";
import { deflate, inflate } from "./inflate.ts";
import { countLineFeeds } from "./lines.ts";
import { type LogLease, type NewChunk, sequenceAt } from "./place.ts";
import type { Range } from "./ranges.ts";
import { nameOf } from "./store.ts";
import { type Outcome, openChunkWriter } from "./write.ts";

export interface ReceivedChunk {
  /** Undefined: by its place. */
  sequence: number | undefined;
  /** The offset of its first byte in the log. Undefined: the log's end. */
  start: number | undefined;
  body: Buffer;
  isGzip: boolean;
}

export interface LogIntake {
  /**
   * Stores a piece of a log. A repeated one changes nothing; bytes that are stored already, and those beyond
   * JOB_LOG_BYTES, are dropped. Concurrent pieces of an organization share a commit.
   * @throws Refusal 404 if the attempt has ended, 400, 413, 503
   */
  append(lease: LogLease, chunk: ReceivedChunk): Promise<void>;
}

const maxBatchItems = 200;
const maxBatchBytes = 8 * 1024 * 1024;

export function openLogIntake(services: Services): LogIntake {
  const { config } = services;
  const inOrder = openOrder();
  const events = openLogEvents(services.events);
  const writer = openChunkWriter(services);
  const gatherers = openGatherers<NewChunk, Outcome>(({ lease }) => lease.organizationId, {
    flush: writer.write,
    maxItems: maxBatchItems,
    maxWeight: maxBatchBytes,
    weigh: ({ body }) => body.length,
  });
  const store = async (lease: LogLease, received: ReceivedChunk, kept: Range) =>
    gatherers.add(await prepare({ lease, received, kept }));
  const storeRest = async (lease: LogLease, received: ReceivedChunk, rest: Range) => {
    let outcome: Outcome = writer.trimKnown(lease, rest);
    while (typeof outcome === "object") outcome = await store(lease, received, outcome); // each time less
    return outcome;
  };

  return {
    async append(lease, received) {
      let outcome = await store(lease, received, { start: 0, end: config.jobLogBytes });
      if (typeof outcome === "object") {
        const rest = outcome;
        const placed = { ...received, start: received.start ?? rest.start };
        // Together, chunks that overlap would find again and again that others stored their bytes.
        outcome = await inOrder(nameOf(lease), () => storeRest(lease, placed, rest));
      }
      if (outcome === "ended") throw notFound("running job");
      events.publish(lease.jobId);
    },
  };
}

interface Arrival {
  lease: LogLease;
  received: ReceivedChunk;
  /** The bytes of the log that may be stored. */
  kept: Range;
}

/** Keeps the body as it came, unless only a part of it may be stored. */
async function prepare({ lease, received, kept }: Arrival): Promise<NewChunk> {
  const { isGzip, start: place, sequence = place === undefined ? undefined : sequenceAt(place) } = received;
  if (!isGzip && received.body.length > maxChunkBytes) throw chunkTooLarge();
  const all = isGzip ? await inflate(lease.organizationId, received.body) : received.body;
  const from = place ?? 0;
  const start = Math.max(from, kept.start);
  const end = from + all.length;
  const bytes = all.subarray(start - from, Math.max(0, kept.end - from));
  const isAsReceived = isGzip && bytes.length === all.length;
  return {
    lease,
    sequence,
    isPlaced: place !== undefined,
    start,
    end,
    size: bytes.length,
    lines: countLineFeeds(bytes),
    body: isAsReceived || bytes.length === 0 ? received.body : await deflate(lease.organizationId, bytes),
  };
}
