import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { eq, sql } from "drizzle-orm";
import { DatabaseUnavailable, type Db, isUniqueViolation } from "../../shared/db/database.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { prepared } from "../../shared/db/prepared.ts";
import { newId } from "../../shared/ids.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { run } from "../helpers/processes.ts";
import { repeat } from "../helpers/run-mode.ts";

const landed = {
  "sqlite/0000_foundation": "69a82d9438e48022",
  "sqlite/0001_device_authorization": "815429476c72abdd",
  "sqlite/0002_dispatch": "b5095dff11d0ed33",
  "sqlite/0003_triggers": "2ee99b5b55b15dd3",
  "sqlite/0004_lists": "89a17ff7f651326e",
  "sqlite/0005_payload_totals": "8363caef7523dade",
  "sqlite/0006_sealed_builds": "5757753e1868dad6",
  "sqlite/0007_filter_misses": "b7944eaa52119123",
  "sqlite/0008_sealing_keys": "4408ad73a8a0e0d4",
  "sqlite/0009_installation": "b5c68619be610078",
  "sqlite/0010_job_marks": "8d17f03a46f5f57e",
  "sqlite/0011_agents": "3992bb5b4f13ac66",
  "sqlite/0012_log_lines": "952a663913d1b8bc",
  "sqlite/0013_searchable_lists": "9007d1588429c9ee",
  "sqlite/0014_invitations": "023ee50b2abb9b21",
  "sqlite/0015_figures": "1d22bfee58c4f87e",
  "sqlite/0016_searched_deliveries": "1c9d91bf6de1738a",
  "sqlite/0017_trigger_signatures": "ca36adcc55da71c4",
  "sqlite/0018_refused_requests": "2fde468a711f0d2b",
  "sqlite/0019_bulk_rebuilds": "52c0cb8a6fe0b732",
  "sqlite/0020_lost_jobs": "686f9e3bba6c799f",
  "sqlite/0021_refused_bodies": "3841961dbcce20d8",
  "sqlite/0022_registration_tokens": "c85fe2217e07985d",
  "sqlite/0023_approved_codes": "6102661017f25a97",
  "sqlite/0024_own_access_tokens": "649507549b4b6162",
  "sqlite/0025_oldest_sessions": "db658e1a1c7f5397",
  "sqlite/0026_described_agents": "606b5606e984f4fd",
  "sqlite/0027_record_totals": "9ea98e1ab60ef01f",
  "sqlite/0028_kept_bytes": "47aa19d75686bdf8",
  "sqlite/0029_steps_version": "5fc33ba5a6949f44",
  "sqlite/0030_deleted_pipelines": "9e5b9f30ad4c9f99",
  "sqlite/0031_step_graphs": "0f55459733a5a106",
  "sqlite/0032_all_steps": "73f018006ff35db4",
  "sqlite/0033_left_by_jobs": "9c51e8a58dcf879c",
  "sqlite/0034_claimed_codes": "dc1af71e623a6762",
  "sqlite/0035_exit_statuses_and_offers": "2accc8d6ab9d5d16",
  "sqlite/0036_places_of_builds": "c836c586c6527268",
  "sqlite/0037_retries_and_uploads": "f3203489ade896d9",
  "sqlite/0038_tasks": "28213aff3255bdf7",
  "sqlite/0039_due_deliveries": "9634dee1df4ed063",
  "postgres/0000_foundation": "011ac0cedfd71ec3",
  "postgres/0001_device_authorization": "0c0c42a53a434184",
  "postgres/0002_dispatch": "1655b56d23af6301",
  "postgres/0003_triggers": "f108f17bf71e211c",
  "postgres/0004_lists": "a4ada9599f47aa25",
  "postgres/0005_payload_totals": "3198f753046cbc59",
  "postgres/0006_sealed_builds": "092ac9eae6b3868b",
  "postgres/0007_filter_misses": "fdb5548ff72f02ec",
  "postgres/0008_sealing_keys": "46d2634a4a450ad6",
  "postgres/0009_installation": "c5d733826d69706c",
  "postgres/0010_job_marks": "b2f3129d585a2884",
  "postgres/0011_agents": "6e795ee2dfef5ba3",
  "postgres/0012_log_lines": "3d82f160dc268c01",
  "postgres/0013_searchable_lists": "e2f53e173b23cbfa",
  "postgres/0014_invitations": "7365777b710f8f17",
  "postgres/0015_figures": "e1ad1b01312b3d14",
  "postgres/0016_searched_deliveries": "7433ea9cd877f607",
  "postgres/0017_trigger_signatures": "0bbb6a2263483717",
  "postgres/0018_refused_requests": "cd79b2257450c2a0",
  "postgres/0019_bulk_rebuilds": "9dcc0405ad0489f3",
  "postgres/0020_lost_jobs": "fd6d3a2e631a8181",
  "postgres/0021_refused_bodies": "78e57aef3fbc05dc",
  "postgres/0022_registration_tokens": "ee3f0a78e3e0e60f",
  "postgres/0023_approved_codes": "80a90728fc5fbfe1",
  "postgres/0024_own_access_tokens": "01ede2cd85faa8ea",
  "postgres/0025_oldest_sessions": "8bfaa8c3a8e4d713",
  "postgres/0026_described_agents": "267d9047f7023342",
  "postgres/0027_record_totals": "ff091916a7d4c718",
  "postgres/0028_kept_bytes": "e8db6098b1d69a34",
  "postgres/0029_steps_version": "2427189842c009e4",
  "postgres/0030_deleted_pipelines": "6408d81db22b8761",
  "postgres/0031_step_graphs": "2e07d840adc830e1",
  "postgres/0032_all_steps": "f207e647f9dc4cf0",
  "postgres/0033_left_by_jobs": "fac4ad107bfbcbaf",
  "postgres/0034_claimed_codes": "8a7c443366f18152",
  "postgres/0035_exit_statuses_and_offers": "bdf294333bb78f70",
  "postgres/0036_places_of_builds": "3a4b32f4ddc78eba",
  "postgres/0037_retries_and_uploads": "2ffbe690e82f1b90",
  "postgres/0038_tasks": "550afc91ecff01c5",
  "postgres/0039_due_deliveries": "4d5511dc15ec6812",
};

/** Retries when no connection was free, as a caller retries a 503. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
  }
}

const open = (url: string) => openDatabase({ url, poolSize: 10, timeoutMs: 60_000, onError: () => {} });

describeOnBothDatabases("the database", (database) => {
  let db: Db;
  let url: string;
  let drop: () => Promise<void>;

  before(async () => {
    ({ url, drop } = await database.create());
    db = open(url);
  });
  after(async () => {
    await db.close();
    await drop();
  });

  const put = (name: string, value: string) =>
    db.transaction(async (tx) => {
      await tx.insert(tx.tables.settings).values({ name, value });
    });
  const read = async (name: string) => {
    const { settings } = db.tables;
    return (await db.select().from(settings).where(eq(settings.name, name)))[0]?.value;
  };

  it("commits all of a transaction or nothing", async () => {
    await assert.rejects(
      db.transaction(async (tx) => {
        await tx.insert(tx.tables.settings).values({ name: "half", value: "x" });
        await sleep(1);
        throw new Error("no");
      }),
      /^Error: no$/,
    );
    assert.equal(await read("half"), undefined);
    await put("whole", "x");
    assert.equal(await read("whole"), "x");
  });

  it("hides a transaction's writes until the commit", async () => {
    let seenOutside: string | undefined = "not read";
    const outside = open(url);
    await db.transaction(async (tx) => {
      const { settings } = tx.tables;
      await tx.insert(settings).values({ name: "own", value: "x" });
      const [own] = await tx.select().from(settings).where(eq(settings.name, "own"));
      assert.equal(own?.value, "x");
    });
    seenOutside = (
      await outside.select().from(outside.tables.settings).where(eq(outside.tables.settings.name, "own"))
    )[0]?.value;
    assert.equal(seenOutside, "x");
    await outside.close();
  });

  it("runs many transactions at once, from two connections, without losing one", async () => {
    const other = open(url);
    await put("counter", "0");
    const increment = (on: Db) =>
      on.transaction(async (tx) => {
        const { settings } = tx.tables;
        await tx.update(settings).set({ value: "locked" }).where(eq(settings.name, "lock"));
        const [row] = await tx.select().from(settings).where(eq(settings.name, "counter"));
        const [changed] = await tx
          .update(settings)
          .set({ value: String(Number(row?.value) + 1) })
          .where(eq(settings.name, "counter"))
          .returning();
        return changed?.value;
      });
    await put("lock", "free");
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => untilDone(() => increment(at % 2 ? db : other))),
    );

    assert.equal(await read("counter"), "100");
    await other.close();
  });

  it("fails one of many simultaneous transactions alone", async () => {
    await put("taken", "x");

    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, at) =>
        db.transaction(async (tx) => {
          await tx.insert(tx.tables.settings).values({ name: `together-${at}`, value: "x" });
          if (at % 3 === 1) throw new Error("no");
          if (at % 3 === 2) await tx.insert(tx.tables.settings).values({ name: "taken", value: "x" });
        }),
      ),
    );

    assert.deepEqual(
      outcomes.map(({ status }) => status),
      outcomes.map((_, at) => (at % 3 === 0 ? "fulfilled" : "rejected")),
    );
    assert.ok(
      outcomes.every((each) => each.status === "fulfilled" || !(each.reason instanceof DatabaseUnavailable)),
    );
    for (const at of outcomes.keys())
      assert.equal(await read(`together-${at}`), at % 3 === 0 ? "x" : undefined);
  });

  it("throws on a transaction inside a transaction, and on a read beside one", async () => {
    await assert.rejects(
      db.transaction(() => put("inner", "x")),
      /A transaction inside a transaction/,
    );
    await assert.rejects(
      db.transaction(() => read("whole")),
      /A read through db inside a transaction/,
    );
    await put("after", "x");
    assert.equal(await read("after"), "x");
  });

  it("runs a prepared query again in and outside transactions, but not beside one", async () => {
    const readValue = prepared<{ name: string }, { value: string }>((on) => {
      const { settings } = on.tables;
      return on
        .select({ value: settings.value })
        .from(settings)
        .where(eq(settings.name, sql.placeholder("name")));
    });
    await put("prepared", "1");
    assert.deepEqual(await readValue(db, { name: "prepared" }), [{ value: "1" }]);

    await db.transaction(async (tx) => {
      await tx.update(tx.tables.settings).set({ value: "2" }).where(eq(tx.tables.settings.name, "prepared"));
      assert.deepEqual(await readValue(tx, { name: "prepared" }), [{ value: "2" }]);
      assert.throws(() => readValue(db, { name: "prepared" }), /inside a transaction/);
    });

    assert.deepEqual(await readValue(db, { name: "prepared" }), [{ value: "2" }]);
    assert.deepEqual(await readValue(db, { name: "absent" }), []);
  });

  it("recognises a unique violation in both dialects", async () => {
    await put("once", "x");
    await assert.rejects(put("once", "y"), (error) => isUniqueViolation(error));
    await assert.rejects(
      db.transaction((tx) => tx.insertMany(tx.tables.settings, [{ name: "once", value: "y" }])),
      (error) => isUniqueViolation(error),
    );
    assert.ok(!isUniqueViolation(new Error("other")) && !isUniqueViolation(undefined));
  });

  it("returns every type of value as it was stored", async () => {
    const at = new Date("2026-01-31T12:34:56.789Z");
    const id = newId(at);
    const organization = {
      id,
      slug: "s",
      name: "Zoë 😀",
      deliveriesPerHour: 2 ** 31 - 1,
      features: ["webhook_filtering" as const],
      storedBytes: 2 ** 53 - 1,
      keptBytes: 0,
      recordBytes: 0,
      createdAt: at,
    };
    await db.transaction((tx) => tx.insertMany(tx.tables.organizations, [organization]));

    const [found] = await db.select().from(db.tables.organizations);
    assert.deepEqual(found, organization);
  });

  it("inserts thousands of rows at once, and accepts an empty list", async () => {
    const rows = Array.from({ length: 40_003 }, (_, at) => ({ name: `many-${at}`, value: String(at) }));
    await db.transaction(async (tx) => {
      await tx.insertMany(tx.tables.settings, []);
      await tx.insertMany(tx.tables.settings, rows);
    });
    assert.equal(await read("many-40002"), "40002");
  });
});

describeOnBothDatabases("migrating", (database) => {
  it("succeeds in several processes at once, and changes nothing the second time", async () => {
    const { url, drop } = await database.create();
    const fresh = database.dialect === "sqlite" ? url.replace("test.db", "fresh.db") : url;
    if (database.dialect === "postgres") {
      const db = open(url);
      await db.close();
    }
    const processes = Array.from({ length: repeat(2, 4) }, () =>
      run(["scripts/migrate.ts"], { DATABASE_URL: fresh }),
    );
    const codes = await Promise.all(
      processes.map((each) => new Promise((resolve) => each.process.on("exit", resolve))),
    );

    assert.deepEqual(new Set(codes), new Set([0]), processes.map((each) => each.output()).join(""));
    await migrate(fresh);
    await drop();
  });
});

describe("the SQLite file", () => {
  it("is durable, and returns space to the file system", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-file-"));
    const file = join(folder, "a.db");
    await migrate(`file:${file}`);
    const db = open(`file:${file}`);
    const rows = Array.from({ length: 2000 }, (_, at) => ({ name: `n${at}`, value: "x".repeat(2000) }));
    await db.transaction((tx) => tx.insertMany(tx.tables.settings, rows));
    await db.transaction(async (tx) => {
      await tx.delete(tx.tables.settings);
    });
    let given = 0;
    for (let pages = 1; pages > 0; given += pages) pages = await db.vacuum(200);
    await db.close();

    const client = new Sqlite(file);
    client.pragma("wal_checkpoint(TRUNCATE)");
    assert.equal(client.pragma("auto_vacuum", { simple: true }), 2);
    assert.equal(client.pragma("journal_mode", { simple: true }), "wal");
    client.close();
    assert.ok(given > 900, `${given} pages`);
    assert.ok(statSync(file).size < 1_000_000);
    rmSync(folder, { recursive: true });
  });
});

describe("migrations", () => {
  const journal = (dialect: string) =>
    JSON.parse(readFileSync(`shared/db/migrations/${dialect}/meta/_journal.json`, "utf8")).entries as {
      tag: string;
      when: number;
    }[];

  it("have the same names in both dialects, in order of time", () => {
    const [sqlite, postgres] = [journal("sqlite"), journal("postgres")];
    assert.deepEqual(
      sqlite.map((entry) => entry.tag),
      postgres.map((entry) => entry.tag),
    );
    for (const entries of [sqlite, postgres]) {
      const times = entries.map((entry) => entry.when);
      assert.deepEqual(
        times.toSorted((a, b) => a - b),
        times,
      );
      assert.equal(new Set(times).size, times.length);
    }
  });

  it("never change after release", () => {
    const hashes = Object.fromEntries(
      ["sqlite", "postgres"].flatMap((dialect) =>
        journal(dialect).map(({ tag }) => {
          const text = readFileSync(`shared/db/migrations/${dialect}/${tag}.sql`);
          return [`${dialect}/${tag}`, createHash("sha256").update(text).digest("hex").slice(0, 16)];
        }),
      ),
    );
    // Add lines, never change one: installations have run it.
    assert.deepEqual(hashes, landed);
  });
});
