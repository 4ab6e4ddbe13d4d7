import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import Client from "better-sqlite3";
import { getTableName } from "drizzle-orm";
import { Client as PostgresClient } from "pg";
import { sqliteFile } from "../../../shared/db/open.ts";
import { postgresTables } from "../../../shared/db/postgres.ts";
import { sqliteTables } from "../../../shared/db/sqlite/open.ts";
import type { TestDatabase } from "../../helpers/databases.ts";
import { fill, type Insert } from "./fill.ts";
import { openRecorder, type Recorder } from "./recorder.ts";
import { statements } from "./statements.ts";

const { organizations, users, applications, settings, filterMisses, signingKeys, ...growing } = sqliteTables;
const growingNames = Object.values(growing).map((table) => getTableName(table));
/** Tables that grow slowly have a tenth of the rows. */
const slow = new Set(["members", "clusters", "queues", "pipelines", "triggers"]);

/** Their indexes have few rows: those that are paused, deleted, wait or are open. */
const partialIndexes =
  "queues_paused|pipelines_deleted|pipelines_deleted_ids|jobs_paused|deliveries_due|bulk_rebuilds_running|artifacts_open";
const scanOfGrowing = new RegExp(
  `(^|\\s)(SCAN|Seq Scan on) "?(${growingNames.join("|")})\\b(?! USING (COVERING )?INDEX (${partialIndexes})$)`,
  "m",
);

const isOrdered = /^(?!.*(TEMP B-TREE|\bSort\b))/s;
/** A join may begin with the other table, and read what other organizations have there. */
const readsEachBuild = { postgres: /^(?!.*\bJoin\b.*meta_data)/s };

/** Rows that the statement does not return, such as those of the same queue, must not slow it down. */
const expectedPlans: Record<string, { sqlite?: RegExp; postgres?: RegExp }> = {
  "an outdated mark": { sqlite: /jobs_mark/, postgres: /jobs_mark/ },
  "an outdated mark of a resumed queue": { sqlite: /jobs_mark/, postgres: /jobs_mark/ },
  "jobs to mark": { sqlite: /jobs_mark/, postgres: /jobs_mark/ },
  // However many wait, and however many groups there are.
  "the first that wait for a group": {
    sqlite: /^(?!.*TEMP B-TREE).*concurrency_members_place/s,
    postgres: /^(?!.*\bSort\b).*concurrency_members_place/s,
  },
  "the highest limit of a group": {
    sqlite: /^(?!.*TEMP B-TREE).*concurrency_members_limit/s,
    postgres: /^(?!.*\bSort\b).*concurrency_members_limit/s,
  },
  "limits of eager jobs": {
    sqlite: /concurrency_members_eager_place/,
    postgres: /concurrency_members_eager_place/,
  },
  "the first eager jobs": {
    sqlite: /^(?!.*TEMP B-TREE).*concurrency_members_eager_place/s,
    postgres: /^(?!.*\bSort\b).*concurrency_members_eager_place/s,
  },
  // Without those that expired. No row here is finished, so Postgres sorts the few that it expects.
  "artifacts to evict": { sqlite: /^(?!.*TEMP B-TREE).*artifacts_counted/s, postgres: /artifacts_counted/ },
  "the next organization with tasks": { sqlite: /tasks_due/, postgres: /tasks_due/ },
  "due tasks": { sqlite: isOrdered, postgres: isOrdered },
  // The planner takes either: both have only the paused jobs of a queue.
  "jobs to unmark": { sqlite: /jobs_mark/, postgres: /jobs_mark|jobs_paused/ },
  // Wherever in the table the waiting jobs are.
  "queues with work": { sqlite: /jobs_mark/, postgres: /jobs_mark/ },
  "waiting jobs": {
    sqlite: /^(?!.*TEMP B-TREE).*jobs_waiting/s,
    postgres: /^(?!.*\bSort\b).*jobs_waiting/s,
  },
  "kinds of waiting jobs": {
    sqlite: /^(?!.*TEMP B-TREE).*jobs_waiting.*jobs_waiting/s,
    postgres: /^(?!.*\bSort\b).*Index Only Scan using jobs_waiting/s, // it does not show the plan of the other step
  },
  "preferred agents": { sqlite: /agents_preferred/, postgres: /agents_preferred/ },
  "waiting jobs of a queue": { sqlite: isOrdered, postgres: isOrdered },
  "waiting jobs of a queue, newer": { sqlite: isOrdered, postgres: isOrdered },
  "waiting jobs of a queue, older": { sqlite: isOrdered, postgres: isOrdered },
  "members of an organization": { sqlite: isOrdered, postgres: isOrdered },
  // Without those that were revoked.
  "the number of registration tokens": { sqlite: /agent_tokens_list/, postgres: /agent_tokens_list/ },
  "the number of access tokens of a member": { sqlite: /access_tokens_own/, postgres: /access_tokens_own/ },
  "the number of approved codes of a member": {
    sqlite: /device_codes_approved/,
    postgres: /device_codes_approved/,
  },
  "a code to claim": { sqlite: /device_codes_user_code/, postgres: /device_codes_user_code/ },
  "a claimed code": { sqlite: /device_codes_claimed/, postgres: /device_codes_claimed/ },
  "the oldest sessions of a user": { sqlite: /sessions_oldest/, postgres: /sessions_oldest/ },
  "open invitations": { sqlite: /invitations_list/, postgres: /invitations_list/ },
  "builds of an organization by meta-data": readsEachBuild,
  "builds of a pipeline by meta-data": readsEachBuild,
  "counts of builds by meta-data": readsEachBuild,
  "counts of builds of a pipeline by meta-data": readsEachBuild,
  "old payloads": { postgres: /deliveries_pkey on deliveries .*\n *Index Cond/ },
};

/** Columns that a statement does not select: they may have a megabyte in a row. */
const unselected: Record<string, RegExp> = {
  "a pipeline without its steps": /"steps"/,
  "the pipeline of a job": /"steps"/,
  "names of pipelines": /"(steps|environment_sealed)"/,
  "names of some pipelines": /"(steps|environment_sealed)"/,
  "names of agents": /"meta_data"/,
  "builds in brief without a filter": /"environment|"author"|(?<!substr\()("builds"\.)?"message"/,
  "jobs in brief": /(?<!substr\()"(jobs|first_of_step)"\."command"(?! is null)/,
  "triggers in brief": /"(filter|environment_sealed|secret_sealed)"/,
  "the trigger of a delivery": /"(filter|environment_sealed|secret_sealed)"/,
};

/** Declares a test for each statement: it reads no growing table from its beginning to its end. */
export function testPlans(database: TestDatabase, amount: number, { isAnalysed = true } = {}): void {
  let recorder: Recorder;
  let drop: () => Promise<void>;

  before(async () => {
    const created = await database.create();
    drop = created.drop;
    await fillTables(database, created.url, amount, isAnalysed);
    recorder = await openRecorder(database.dialect, created.url);
  });
  after(async () => {
    await recorder?.close();
    await drop();
  });

  for (const [name, run] of Object.entries(statements)) {
    it(`reads ${name} by an index`, async () => {
      await run(recorder.db);
      const plans = recorder.takePlans();

      assert.ok(plans.length > 0);
      // A list of no ids reads nothing.
      const expected = expectedPlans[name]?.[database.dialect] ?? /^/;
      for (const { statement, plan } of plans.filter((each) => !each.statement.includes("where false"))) {
        assert.doesNotMatch(plan, scanOfGrowing, `${statement}\n${plan}`);
        assert.match(plan, expected, `${statement}\n${plan}`);
        assert.doesNotMatch(statement, unselected[name] ?? /(?!)/);
      }
    });
  }
}

async function fillTables(
  { dialect }: TestDatabase,
  url: string,
  amount: number,
  isAnalysed: boolean,
): Promise<void> {
  const { insert, execute, close } = dialect === "sqlite" ? openSqlite(url) : await openPostgres(url);
  for (const [key, table] of Object.entries(dialect === "sqlite" ? sqliteTables : postgresTables)) {
    if (!(key in growing)) continue;
    await fill(insert, table as typeof sqliteTables.builds, slow.has(key) ? amount / 10 : amount);
  }
  if (isAnalysed) await execute("ANALYZE");
  await close();
}

function openSqlite(url: string) {
  const client = new Client(sqliteFile(url));
  client.pragma("foreign_keys = OFF");
  client.pragma("synchronous = OFF");
  const insert: Insert = async (table, columns, rows) => {
    const names = columns.map(({ name }) => `"${name}"`);
    const statement = client.prepare(`INSERT INTO "${table}" (${names}) VALUES (${names.map(() => "?")})`);
    const encode = (row: unknown[]) =>
      row.map((value, index) => (value === null ? null : columns[index]?.mapToDriverValue(value)));
    client.transaction(() => rows.forEach((row) => void statement.run(encode(row))))();
  };
  return {
    insert,
    execute: async (statement: string) => void client.exec(statement),
    close: async () => void client.close(),
  };
}

async function openPostgres(url: string) {
  const client = new PostgresClient({ connectionString: url });
  await client.connect();
  await client.query("SET session_replication_role = replica"); // no foreign keys
  const encode = (value: unknown) => (value instanceof Buffer ? `\\x${value.toString("hex")}` : value);
  const insert: Insert = async (table, columns, rows) => {
    const records = rows.map((row) =>
      Object.fromEntries(columns.map(({ name }, index) => [name, encode(row[index])])),
    );
    const statement = `INSERT INTO "${table}" SELECT * FROM json_populate_recordset(NULL::"${table}", $1)`;
    await client.query(statement, [JSON.stringify(records)]);
  };
  return {
    insert,
    execute: async (statement: string) => void (await client.query(statement)),
    close: () => client.end(),
  };
}
