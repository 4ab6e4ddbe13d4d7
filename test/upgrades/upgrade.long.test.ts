import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { checkBuilds } from "../../scripts/prove/ledger/builds.ts";
import { checkDeliveries } from "../../scripts/prove/ledger/deliveries.ts";
import { countWaiting, readLedger } from "../../scripts/prove/ledger/read.ts";
import type { Post } from "../../scripts/prove/traffic/observed.ts";
import { hashToken, issueToken } from "../../shared/crypto/tokens.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { query } from "../db/migrating/catalog.ts";
import { migrateWithDrizzle, ofFirstRelease } from "../db/migrating/drizzle.ts";
import { addHistory, historyIds } from "../db/migrating/history.ts";
import { describeOnBothDatabases, postgres, skipPostgres, type TestDatabase } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { openVersions, type Versions } from "./processes.ts";
import { releases, releasesMissing } from "./releases.ts";
import { startSenders } from "./senders.ts";

/** Deliveries, builds and payloads that are there before. By hand try 200000. */
const rows = Number(process.env.TEST_UPGRADE_ROWS ?? 2000);
const seededAtOnce = 20_000;
const senders = 2;

interface Journey {
  versions: Versions;
  /** Addresses that senders use. */
  urls: string[];
}

/** Runs a journey under load, and judges by the ledger of `npm run prove`. */
async function travel(
  database: TestDatabase,
  context: TestContext,
  { release, isMigrated, go }: { release: string; isMigrated: boolean; go: (on: Journey) => Promise<void> },
): Promise<void> {
  const { url, drop } = await database.createEmpty();
  const versions = openVersions(url, release);
  try {
    await migrateWithDrizzle(url, ofFirstRelease);
    for (let first = 1; first <= rows; first += seededAtOnce)
      await addHistory(url, Math.min(seededAtOnce, rows - first + 1), first);
    const token = await pointTriggerAtSteps(url);
    if (isMigrated) await versions.migrate();
    const urls: string[] = [];
    const before = isMigrated ? "present" : "former";
    urls.push((await versions.start(before, "ingress")).url);
    await versions.start(before, "worker");
    const traffic = startSenders(senders, urls, token);
    await eventually("builds", async () => (await countBuilds(url)) > rows + 20);

    await go({ versions, urls });

    const built = await countBuilds(url);
    await eventually("new builds", async () => (await countBuilds(url)) > built + 20);
    await traffic.stop();
    const answers = traffic.countAnswers();
    const times = traffic.posts.flatMap(({ attempts }) =>
      attempts.map(({ fromMs, untilMs }) => untilMs - fromMs),
    );
    const longest = `the longest after ${Math.round(Math.max(...times))} ms`;
    context.diagnostic(`${versions.output()}\nanswers: ${JSON.stringify(answers)}, ${longest}`);
    assert.equal(answers["500"], undefined);
    await judge(url, traffic.posts);
  } finally {
    await versions.close();
    await drop();
  }
}

const upgrading = { release: releases.first, isMigrated: false };

// An upgrade that stops all processes first does the same with nothing beside it.
describeOnBothDatabases("upgrading from the first release, rolling", (database) => {
  it("loses and doubles nothing under load", { skip: releasesMissing }, (context) =>
    travel(database, context, {
      ...upgrading,
      async go({ versions, urls }) {
        await versions.migrate();
        await versions.start("present", "worker");
        urls.splice(0, 1, (await versions.start("present", "ingress")).url);
        await versions.stop("former");
      },
    }),
  );
});

// Nothing is migrated on this way, and statements of the former release were run on SQLite by its own tests.
describe("going back under load, on Postgres", { skip: skipPostgres || releasesMissing }, () => {
  it("loses and doubles nothing, rolling", (context) =>
    travel(postgres, context, {
      release: releases.rollback,
      isMigrated: true,
      async go({ versions, urls }) {
        await versions.start("former", "worker");
        urls.splice(0, 1, (await versions.start("former", "ingress")).url);
        await versions.stop("present");
      },
    }));
});

/** The trigger of the rows gets a token, and its pipeline a step. */
async function pointTriggerAtSteps(url: string): Promise<string> {
  const token = issueToken("trigger");
  await query(
    url,
    `UPDATE triggers SET token_hash = '${hashToken(token)}';
     UPDATE organizations SET deliveries_per_hour = 1000000000;
     UPDATE pipelines SET steps = '[{"command":"make test"}]', last_build_number = ${rows};
     UPDATE clusters SET default_queue_id = (SELECT id FROM queues)`,
  );
  return token;
}

async function countBuilds(url: string): Promise<number> {
  const [row] = await query(url, "SELECT count(*) AS total FROM builds");
  return Number(row?.total);
}

async function judge(url: string, posts: Post[]): Promise<void> {
  const db = openDatabase({ url, poolSize: 2, timeoutMs: 10_000, onError: () => {} });
  try {
    await eventually("all is built", async () => (await countWaiting(db)) === 0);
    const whole = await readLedger(db);
    const isNew = ({ id }: { id: string }) => !id.startsWith(historyIds);
    const deliveries = whole.deliveries.filter(isNew);
    const builds = whole.builds.filter(isNew);
    assert.deepEqual(checkDeliveries(posts, { deliveries, builds }), []);
    const numbered = {
      jobs: whole.jobs.filter(isNew),
      builds: builds.map((build) => ({ ...build, number: build.number - rows })),
      pipelines: whole.pipelines.map((each) => ({ ...each, lastBuildNumber: each.lastBuildNumber - rows })),
    };
    assert.deepEqual(checkBuilds(numbered), []);
  } finally {
    await db.close();
  }
}
