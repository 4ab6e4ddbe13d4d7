import { hourMs, secondMs } from "../../durations.ts";
import { isId, newId } from "../../ids.ts";
import type { Topic } from "../../redis/events.ts";
import { notFound } from "../../refusal.ts";
import { expiring } from "../../retention/expiring.ts";
import type { Services } from "../../services/services.ts";
import { stored } from "../../sharing/bounds.ts";
import { openGatherer, pause } from "../../sharing/gatherer.ts";
import type { RefusalCause, StoredHeader } from "../../vocabulary.ts";
import type { RefusedTrigger } from "./refusals.ts";
import { refusedBodiesUntil } from "./refused-bodies.ts";
import {
  addRefusedRequest,
  deleteRefusedRequestsBefore,
  findRefusedRequest,
  listRefusedRequests,
  type RefusedRequest,
} from "./refused-requests-store.ts";

const flushEveryMs = 5 * secondMs;
const maxBodyBytes = 4096;
/** The limit of all headers together. */
const maxHeaderCharacters = 4096;
/** The limit of a query, before its values are taken out and after. */
export const maxQueryCharacters = 1024;
const maxListed = 20;

/** The parts of a request. Headers and the query are without secrets. */
export interface RequestParts {
  network: string;
  headers: StoredHeader[];
  query: string;
  /** Undefined if it was refused before it was read. */
  body: Buffer | undefined;
}

/** Stores the last refused request of a trigger and cause in five seconds. A crash loses those in memory. */
export interface RefusedRequests {
  /** @param read is not called if none are kept */
  add(trigger: RefusedTrigger, cause: RefusalCause, read: () => RequestParts): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps samples of refused requests in memory, and stores them every few seconds. Open pages then show them. */
export function openRefusedRequests({ config, db, clock, events, log }: Services): RefusedRequests {
  const requests = openGatherer<{ organizationId: string; row: RefusedRequest }>({
    when: (_, hurry) => pause(flushEveryMs, hurry),
    keyOf: ({ row }) => `${row.triggerId} ${row.cause}`,
    merge: (_, later) => later, // the sender may have changed something since
    kept: {
      max: stored.refusedRequests.max["samples of refused requests"],
      ownerOf: ({ organizationId }) => organizationId,
    },
    async flush(taken) {
      try {
        for (const { row } of taken) await db.transaction((tx) => addRefusedRequest(tx, row));
        events.publish(taken.map(({ row }): Topic => `trigger:${row.triggerId}`));
      } catch (error) {
        log.debug({ err: error }, "refused requests are not stored while the database is away");
      }
    },
  });

  return {
    add(trigger, cause, read) {
      if (config.refusedRequestHours === 0) return;
      const { id: triggerId, organizationId } = trigger;
      const now = clock.now();
      const { network, headers, query, body } = read();
      const isBodyKept = body && refusedBodiesUntil(trigger, now);
      const row = {
        id: newId(now),
        triggerId,
        cause,
        receivedAt: now,
        network,
        headers: cutHeaders(headers),
        query: query.slice(0, maxQueryCharacters),
        size: body?.length ?? null,
        body: isBodyKept ? Buffer.from(body.subarray(0, maxBodyBytes)) : null,
      };
      requests.put({ organizationId, row });
    },
    flush: requests.flush,
    close: requests.flush,
  };
}

/** Cuts values, so that all headers together have at most `maxHeaderCharacters`. */
function cutHeaders(headers: StoredHeader[]): StoredHeader[] {
  let left = maxHeaderCharacters;
  const cut: StoredHeader[] = [];
  for (const [name, value] of headers) {
    left -= name.length;
    if (left <= 0) break;
    const short = value?.slice(0, left) ?? null;
    left -= short?.length ?? 0;
    cut.push([name, short]);
  }
  return cut;
}

/** The refused requests that the page of a trigger shows. */
export function listLatestRefused({ config, db, clock }: Services, triggerId: string) {
  return listRefusedRequests(db, triggerId, shownSince(clock.now(), config), maxListed);
}

/** @throws Refusal 404 */
export async function requireRefusedRequest(
  { config, db, clock }: Services,
  triggerId: string,
  id: string,
): Promise<RefusedRequest> {
  const found = isId(id) ? await findRefusedRequest(db, triggerId, id) : undefined;
  if (!found || found.receivedAt < shownSince(clock.now(), config)) throw notFound("refused request");
  return found;
}

export const oldRefusedRequests = expiring("refusedRequests", shownSince, deleteRefusedRequestsBefore);

function shownSince(now: Date, { refusedRequestHours }: Services["config"]): Date {
  return new Date(now.getTime() - refusedRequestHours * hourMs);
}
