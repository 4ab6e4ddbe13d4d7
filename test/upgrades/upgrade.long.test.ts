import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { eq } from "drizzle-orm";
import { checkBuilds } from "../../scripts/prove/ledger/builds.ts";
import { checkDeliveries } from "../../scripts/prove/ledger/deliveries.ts";
import { countWaiting, type Ledger, readLedger } from "../../scripts/prove/ledger/read.ts";
import type { Post } from "../../scripts/prove/traffic/observed.ts";
import { hashToken, issueToken } from "../../shared/crypto/tokens.ts";
import type { Db } from "../../shared/db/database.ts";
import { isSqliteUrl, openDatabase } from "../../shared/db/open.ts";
import type { Services } from "../../shared/services/services.ts";
import { query } from "../db/migrating/catalog.ts";
import { describeOnBothDatabases, type TestDatabase } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { openVersions, type Versions } from "./processes.ts";
import { addLaterRows, judgePushes, openPresent, startPushers } from "./pushes.ts";
import { release, releaseMissing } from "./releases.ts";
import { startSenders } from "./senders.ts";

const senders = 2;
/** Pipelines with a repository at a source host. Their webhooks are made in three batches. */
const connected = 250;

interface Journey {
  versions: Versions;
  /** Addresses that senders use. */
  urls: string[];
  /** A look of the present version. */
  present: Services;
  /** Sends pushes to the webhooks of providers from now on, once they are made. */
  push(): Promise<void>;
}

/** Runs a journey under load, and judges by the ledger of `npm run prove`. */
async function travel(
  database: TestDatabase,
  context: TestContext,
  { from, go }: { from: "former" | "present"; go: (on: Journey) => Promise<void> },
): Promise<void> {
  const { url, drop } = await database.createEmpty();
  const versions = openVersions(url, release ?? "");
  const present = openPresent(url);
  try {
    await versions.migrate(from);
    const token = await addTrigger(url);
    const urls = [(await versions.start(from, "ingress")).url];
    await versions.start(from, "worker");
    const traffic = startSenders(senders, urls, token);
    await eventually("builds", async () => (await countBuilds(url)) > 20);

    let pushers: Awaited<ReturnType<typeof startPushers>> | undefined;
    const push = async () => {
      pushers = await startPushers(present, urls, connected);
    };
    await go({ versions, urls, push, present });

    const built = await countBuilds(url);
    await eventually("new builds", async () => (await countBuilds(url)) > built + 20);
    await traffic.stop();
    await pushers?.stop();
    const answers = traffic.countAnswers();
    const times = traffic.posts.flatMap(({ attempts }) =>
      attempts.map(({ fromMs, untilMs }) => untilMs - fromMs),
    );
    const longest = `the longest after ${Math.round(Math.max(...times))} ms`;
    context.diagnostic(`${versions.output()}\nanswers: ${JSON.stringify(answers)}, ${longest}`);
    assert.equal(answers["500"], undefined);
    await judge(url, traffic.posts);
    assert.ok(pushers && pushers.taken.length > 0);
    const left = await judgePushes(present, pushers.taken);
    const said = `pushes: ${JSON.stringify(pushers.answers)}, ${left} of them decided by the former version`;
    context.diagnostic(said);
    assert.deepEqual(
      Object.keys(pushers.answers)
        .sort()
        .filter((answer) => answer !== "none"),
      ["201", "400"],
    );
  } finally {
    await present.close();
    await versions.close();
    await drop();
  }
}

// An upgrade that stops all processes first does the same with nothing beside it.
describeOnBothDatabases("release 1.0.0 under load", (database) => {
  it("is upgraded, rolling, and loses and doubles nothing", { skip: releaseMissing }, (context) =>
    travel(database, context, {
      from: "former",
      async go({ versions, urls, push }) {
        await versions.migrate("present");
        await versions.start("present", "worker");
        // Beside it webhooks take minutes: it takes tasks that it does not know, for half a minute each.
        await versions.stop("former", "worker");
        await push();
        urls.splice(0, 1, (await versions.start("present", "ingress")).url);
        await versions.stop("former");
      },
    }),
  );

  it("takes over again, rolling, and loses and doubles nothing", { skip: releaseMissing }, (context) =>
    travel(database, context, {
      from: "present",
      async go({ versions, urls, push, present }) {
        await push();
        const checkLaterRows = await addLaterRows(present);
        await versions.start("former", "worker");
        urls.splice(0, 1, (await versions.start("former", "ingress")).url);
        await versions.stop("present");
        await checkLaterRows();
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
       VALUES (${trigger}, ${pipeline}, 'webhook', 'Main', ${yes}, 1, '${hashToken(token)}', 'hint', ${at}, ${user}, ${at}, ${user});
     ${pipelinesOfHost({ organization, cluster, at, user })}`,
  );
  return token;
}

/** The statement that adds pipelines whose repositories are at a source host. */
function pipelinesOfHost({ organization, cluster, at, user }: Record<string, string | undefined>): string {
  const rows = Array.from({ length: connected }, (_, index) => {
    const id = `00000000-0000-7000-8000-${String(100 + index).padStart(12, "0")}`;
    const repository = `https://github.com/acme/app-${index}.git`;
    return `('${id}', ${organization}, ${cluster}, 'app-${index}', 'App ${index}', 'main', '${repository}', '[{"command":"make"}]', 0, ${at}, ${user})`;
  });
  return `INSERT INTO pipelines (id, organization_id, cluster_id, slug, name, default_branch, repository, steps, last_build_number, created_at, created_by_id)
       VALUES ${rows.join(", ")};`;
}

async function countBuilds(url: string): Promise<number> {
  const [row] = await query(url, "SELECT count(*) AS total FROM builds");
  return Number(row?.total);
}

/** Pushes are judged by themselves. */
async function withoutPushes(db: Db, { deliveries, builds }: Ledger) {
  const { triggers, deliveries: table } = db.tables;
  const rows = await db
    .select({ id: table.id })
    .from(table)
    .innerJoin(triggers, eq(triggers.id, table.triggerId))
    .where(eq(triggers.isProvider, true));
  const pushes = new Set(rows.map(({ id }) => id));
  return {
    deliveries: deliveries.filter(({ id }) => !pushes.has(id)),
    builds: builds.filter(({ deliveryId }) => !pushes.has(deliveryId ?? "")),
  };
}

async function judge(url: string, posts: Post[]): Promise<void> {
  const db = openDatabase({ url, poolSize: 2, timeoutMs: 10_000, onError: () => {} });
  try {
    await eventually("all is built", async () => (await countWaiting(db)) === 0);
    const ledger = await readLedger(db);
    assert.deepEqual(checkDeliveries(posts, await withoutPushes(db, ledger)), []);
    assert.deepEqual(checkBuilds(ledger), []);
  } finally {
    await db.close();
  }
}
