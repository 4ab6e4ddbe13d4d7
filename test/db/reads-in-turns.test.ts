import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { sql } from "drizzle-orm";
import { type Db, rootCause } from "../../shared/db/database.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { Refusal } from "../../shared/refusal.ts";
import { resources } from "../../shared/sharing/bounds.ts";
import { nameOwner, runFor } from "../../shared/sharing/owner.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";

const isUnavailable = (error: unknown) => error instanceof Refusal && error.status === 503;
const poolSize = 4;
const count = 40;

describeOnBothDatabases("reads of organizations", (database) => {
  let db: Db;
  let drop: () => Promise<void>;
  before(async () => {
    const created = await database.create();
    drop = created.drop;
    db = openDatabase({ url: created.url, poolSize, timeoutMs: 5000, onError: () => {} });
    await db.transaction((tx) =>
      tx.insert(tx.tables.settings).values({ name: "present", value: "yes" }).onConflictDoNothing(),
    );
  });
  after(async () => {
    await db.close();
    await drop();
  });

  /** Reads for some milliseconds; notes whose read it was once it has ended. */
  const read = async (owner: string, ended: string[], steps = 20_000) => {
    const counted = sql<number>`(with recursive counted(n) as
      (select 1 union all select n + 1 from counted where n < ${sql.raw(String(steps))}) select count(*) from counted)`;
    await runFor(owner, async () => db.offLoop.select({ counted }).from(db.tables.settings).limit(1));
    ended.push(owner);
  };

  it("take turns: one that asks for much does not delay another", async () => {
    // Opening a connection takes as long as many reads.
    await Promise.all(Array.from({ length: poolSize }, (_, index) => read(`early ${index}`, [], 200_000)));
    const ended: string[] = [];
    const many = Array.from({ length: count }, () => read("greedy", ended));
    await Promise.all([read("other", ended), read("third", ended)]);
    const before = ended.filter((owner) => owner === "greedy").length;
    await Promise.all(many);

    assert.equal(ended.length, count + 2);
    assert.ok(before <= 2 * poolSize, `${before} of ${count} came first`);
  });

  // SQLite has one writer, and short reads run on the event loop.
  if (database.dialect === "postgres")
    it("leave connections for the queries and transactions of others", async () => {
      const ended: string[] = [];
      const transact = async (owner: string) => {
        await runFor(owner, () =>
          db.transaction((tx) => tx.select({ slept: sql`pg_sleep(0.02)` }).from(tx.tables.settings).limit(1)),
        );
        ended.push(owner);
      };
      const many = Array.from({ length: count }, () => transact("greedy"));
      await Promise.all([
        transact("other"),
        runFor("third", async () => db.select().from(db.tables.settings)),
      ]);
      const before = ended.length;
      await Promise.all(many);

      assert.ok(before <= 2 * poolSize, `${before} of ${count} came first`);
    });

  it("are refused when too many of one organization wait, while another's run", async () => {
    const ended: string[] = [];
    const tooMany = resources.longReads.maxWaitingOfOwner + 2 * resources.longReads.max;
    const settling = Promise.allSettled(Array.from({ length: tooMany }, () => read("greedy", ended, 1000)));
    await read("other", ended);
    const refused = (await settling).filter((outcome) => outcome.status === "rejected");

    assert.ok(refused.length > 0);
    for (const { reason } of refused) assert.ok(isUnavailable(rootCause(reason)), String(reason));
    assert.equal(ended.length, tooMany - refused.length + 1);
  });

  it("are of the owner that is named once their caller is known", async () => {
    const ended: string[] = [];
    const many = Array.from({ length: count }, () => read("greedy", ended));
    await runFor(undefined, async () => {
      await db.select().from(db.tables.settings).limit(1);
      nameOwner("greedy");
      await db.offLoop.select().from(db.tables.settings).limit(1);
    });
    const before = ended.length;
    await Promise.all(many);

    assert.ok(before >= count - poolSize, `${before} of ${count} came first`);
  });

  it("of the program itself wait for nobody's turn", async () => {
    const ended: string[] = [];
    const many = Array.from({ length: count }, () => read("greedy", ended));
    const rows = await db.offLoop.select().from(db.tables.settings).limit(1);
    const before = ended.length;
    await Promise.all(many);

    assert.equal(rows.length, 1);
    assert.ok(before <= 2 * poolSize, `${before} of ${count} came first`);
  });
});
