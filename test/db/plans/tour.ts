import assert from "node:assert/strict";
import { dayMs } from "../../../shared/durations.ts";
import { acceptClock } from "../../../shared/services/clock-guard.ts";
import type { Services } from "../../../shared/services/services.ts";
import { openWorkerJobs } from "../../../workers/jobs.ts";
import { crawl, openSession } from "../../fuzz/crawl.ts";
import type { TestDatabase } from "../../helpers/databases.ts";
import { openTriggerApi } from "../../helpers/trigger-api.ts";
import { tellStory } from "../../ingress/docs/story/tell.ts";
import { type Shared, shared } from "./fill.ts";
import { recordStatements } from "./recorder.ts";

export interface Tour {
  /** With the values of their first run. */
  statements: Map<string, unknown[]>;
  url: string;
  /** Rows that the tour knows, in place of made-up ones that many rows share. */
  shared: Shared;
  close: () => Promise<void>;
}

/** Calls every operation, opens every page, and does every background job. Returns what the program asked the database. */
export async function openTour(database: TestDatabase): Promise<Tour> {
  const { statements, stop } = recordStatements();
  const api = await openTriggerApi(database, { OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8" });
  const { services, clock, url, config } = api.world;
  Object.assign(services.db, { offLoop: services.db }); // SQLite reads in a thread otherwise, unseen
  try {
    clock.freeze();
    await tellStory(api);
    const session = await openSession(api.world, api.acme.user);
    const { pages } = await crawl(url, session, ["/organizations/acme"]);
    assert.ok(pages.length > 100, `the tour found ${pages.length} pages`);
    // By then things have expired, and then their retention is over.
    for (const days of [0, 1, 40, 400]) {
      clock.advance(days * dayMs);
      await doAllJobs(services);
    }
  } finally {
    stop();
  }
  return {
    statements,
    url: config.databaseUrl,
    shared: { ...shared, organization: api.acme.id, user: api.acme.user.id, few: fewOf(api) },
    close: () => api.close(),
  };
}

/** A database of its own, without statements. */
export async function stayAtHome(database: TestDatabase): Promise<Tour> {
  const { url, drop } = await database.create();
  return { statements: new Map(), url, shared, close: drop };
}

function fewOf({ acme }: Awaited<ReturnType<typeof openTriggerApi>>): string[] {
  return [acme.pipeline.id, acme.cluster.id, acme.queue.id, ...shared.few].slice(0, shared.few.length);
}

/** The clock of a test is ahead of those of the servers. */
async function doAllJobs(services: Services): Promise<void> {
  const readClock = async () => services.clock.now();
  Object.assign(services, { readRedisClock: readClock });
  Object.assign(services.db, { readClock });
  await acceptClock(services);
  const { jobs, close } = openWorkerJobs(services);
  for (const { run } of jobs) await run();
  await close();
}
