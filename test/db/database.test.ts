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
import { type Migration, readList, readMigrations } from "../../shared/db/migrating/migrations.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { prepared } from "../../shared/db/prepared.ts";
import { newId } from "../../shared/ids.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { run } from "../helpers/processes.ts";
import { repeat } from "../helpers/run-mode.ts";

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
    assert.ok(statSync(file).size < 1_500_000, "without the 4 MB of the rows");
    rmSync(folder, { recursive: true });
  });
});

describe("a new file of SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-file-"));
  after(() => rmSync(folder, { recursive: true }));
  /** @returns the lines that were reported */
  const migrateNew = async (name: string, migrations = readMigrations("sqlite")) => {
    const lines: string[] = [];
    await migrate(`file:${folder}/${name}.db`, (line) => lines.push(line), migrations);
    return lines;
  };

  it("is migrated in one line, without a word of waits, as nobody uses it yet", async () => {
    const lines = await migrateNew("new");
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match(lines[0] ?? "", new RegExp(`^${readList().length} migrations: done in \\d\\.\\d s$`));
  });

  it("names the migration that fails", async () => {
    const [initial] = readMigrations("sqlite") as [Migration];
    const broken = {
      ...initial,
      tag: "0001_broken",
      when: initial.when + 1,
      hash: "0",
      additions: ["CREATE"],
    };
    await assert.rejects(
      migrateNew("broken", [initial, broken]),
      /^MigrationFailed: 0001_broken: CREATE: incomplete input/,
    );
  });
});

describe("migrations", () => {
  const dialects = ["sqlite", "postgres"] as const;
  const list = readList();

  it("are in order of time", () => {
    for (const dialect of dialects) {
      const times = list.map((entry) => entry[dialect].when);
      assert.deepEqual(
        times.toSorted((a, b) => a - b),
        times,
      );
      assert.equal(new Set(times).size, times.length);
    }
  });

  it("never change after release: the list gets lines, and none of it changes", () => {
    for (const dialect of dialects)
      for (const { tag, [dialect]: made } of list) {
        const text = readFileSync(`shared/db/migrations/${dialect}/${tag}.sql`);
        assert.equal(createHash("sha256").update(text).digest("hex").slice(0, 16), made.hash, tag);
      }
    const first = JSON.stringify(list.slice(0, 12));
    assert.equal(createHash("sha256").update(first).digest("hex").slice(0, 16), "04b37bc17af64b56");
  });
});
