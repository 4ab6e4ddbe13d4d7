import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { checkBuilds } from "../../scripts/prove/ledger/builds.ts";
import { checkDeliveries } from "../../scripts/prove/ledger/deliveries.ts";
import { countWaiting, readLedger } from "../../scripts/prove/ledger/read.ts";
import type { Post } from "../../scripts/prove/traffic/observed.ts";
import { hashToken, issueToken } from "../../shared/crypto/tokens.ts";
import { isSqliteUrl, openDatabase } from "../../shared/db/open.ts";
import { query } from "../db/migrating/catalog.ts";
import { describeOnBothDatabases, type TestDatabase } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { openVersions, type Versions } from "./processes.ts";
import { release, releaseMissing } from "./releases.ts";
import { startSenders } from "./senders.ts";

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
  { from, go }: { from: "former" | "present"; go: (on: Journey) => Promise<void> },
): Promise<void> {
  const { url, drop } = await database.createEmpty();
  const versions = openVersions(url, release ?? "");
  try {
    await versions.migrate(from);
    const token = await addTrigger(url);
    const urls = [(await versions.start(from, "ingress")).url];
    await versions.start(from, "worker");
    const traffic = startSenders(senders, urls, token);
    await eventually("builds", async () => (await countBuilds(url)) > 20);

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

// An upgrade that stops all processes first does the same with nothing beside it.
describeOnBothDatabases("release 1.0.0 under load", (database) => {
  it("is upgraded, rolling, and loses and doubles nothing", { skip: releaseMissing }, (context) =>
    travel(database, context, {
      from: "former",
      async go({ versions, urls }) {
        await versions.migrate("present");
        await versions.start("present", "worker");
        urls.splice(0, 1, (await versions.start("present", "ingress")).url);
        await versions.stop("former");
      },
    }),
  );

  it("takes over again, rolling, and loses and doubles nothing", { skip: releaseMissing }, (context) =>
    travel(database, context, {
      from: "present",
      async go({ versions, urls }) {
        await versions.start("former", "worker");
        urls.splice(0, 1, (await versions.start("former", "ingress")).url);
        await versions.stop("present");
      },
    }),
  );
});

/** Adds a trigger and what it needs, by the schema of 1.0.0. @returns its token */
async function addTrigger(url: string): Promise<string> {
  const token = issueToken("trigger");
  const [organization, user, cluster, queue, pipeline, trigger] = [1, 2, 3, 4, 5, 6].map(
    (kind) => `'00000000-0000-7000-8000-00000000000${kind}'`,
  );
  const [at, yes] = isSqliteUrl(url) ? ["1790000000000", "1"] : ["to_timestamp(1790000000)", "true"];
  await query(
    url,
    `INSERT INTO organizations (id, slug, name, deliveries_per_hour, features, created_at)
       VALUES (${organization}, 'acme', 'Acme', 1000000000, '[]', ${at});
     INSERT INTO users (id, email, name, created_at) VALUES (${user}, 'ann@example.com', 'Ann', ${at});
     INSERT INTO clusters (id, organization_id, name, default_queue_id, created_at, created_by_id)
       VALUES (${cluster}, ${organization}, 'Main', ${queue}, ${at}, ${user});
     INSERT INTO queues (id, cluster_id, key, retry_agent_affinity, created_at, created_by_id)
       VALUES (${queue}, ${cluster}, 'default', 'prefer-warmest', ${at}, ${user});
     INSERT INTO pipelines (id, organization_id, cluster_id, slug, name, default_branch, steps, last_build_number, created_at, created_by_id)
       VALUES (${pipeline}, ${organization}, ${cluster}, 'web', 'Web', 'main', '[{"command":"make test"}]', 0, ${at}, ${user});
     INSERT INTO triggers (id, pipeline_id, type, label, enabled, version, token_hash, token_hint, created_at, created_by_id, updated_at, updated_by_id)
       VALUES (${trigger}, ${pipeline}, 'webhook', 'Main', ${yes}, 1, '${hashToken(token)}', 'hint', ${at}, ${user}, ${at}, ${user});`,
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
    const ledger = await readLedger(db);
    assert.deepEqual(checkDeliveries(posts, ledger), []);
    assert.deepEqual(checkBuilds(ledger), []);
  } finally {
    await db.close();
  }
}
