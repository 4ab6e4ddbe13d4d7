import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../../../shared/db/migrate.ts";
import { describeOnBothDatabases, type TestDatabase } from "../../helpers/databases.ts";
import { run } from "../../helpers/processes.ts";
import { query, readCatalog } from "./catalog.ts";
import { migrateWithDrizzle, ofFirstRelease } from "./drizzle.ts";
import { addHistory } from "./history.ts";

/** Leads to Postgres until the migrating client has sent so many messages. */
async function openCuttingProxy(url: string, messages: number) {
  const target = new URL(url);
  const { port, hostname } = target;
  const server = createServer((client: Socket) => {
    const upstream = connect(Number(port), hostname);
    let left = messages;
    client.on("data", (chunk) => {
      upstream.write(chunk, () => --left === 0 && cut());
    });
    upstream.on("data", (chunk) => client.write(chunk));
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", cut).on("close", cut);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  target.hostname = "127.0.0.1";
  target.port = String((server.address() as AddressInfo).port);
  return { url: target.href, close: () => server.close() };
}

/** Returns true once a run has come to its end. */
async function migrateAndCut(database: TestDatabase, url: string, attempt: number): Promise<boolean> {
  if (database.dialect === "postgres") {
    const proxy = await openCuttingProxy(url, 12 + 5 * attempt);
    const ended = await migrate(proxy.url).then(
      () => true,
      () => false,
    );
    proxy.close();
    return ended;
  }
  const migrating = run(["scripts/migrate.ts"], { DATABASE_URL: url });
  const exit = once(migrating.process, "exit");
  if (migrating.process.stdout) await Promise.race([once(migrating.process.stdout, "data"), exit]);
  await Promise.race([sleep(attempt * 100), exit]);
  await migrating.kill();
  return migrating.process.exitCode === 0;
}

/** Writes as the first release does. Its jobs are refused once the migration of agents has filled the table. */
async function writeAsBefore(url: string, number: number): Promise<void> {
  await addHistory(url, 10, number).catch((error) => {
    assert.match(
      String(error),
      /NOT NULL constraint failed: jobs|jobs_(step_id|position)__required|"(step_id|position)"/,
    );
  });
}

describeOnBothDatabases("migrating that is cut off", (database) => {
  it("is completed by later runs, and the former version writes meanwhile", async (context) => {
    const { url, drop } = await database.createEmpty();
    await migrateWithDrizzle(url, ofFirstRelease);
    await addHistory(url, 3000);

    let cuts = 0;
    while (!(await migrateAndCut(database, url, cuts))) {
      cuts++;
      await writeAsBefore(url, 100_000 + cuts * 100);
    }

    context.diagnostic(`${cuts} cuts`);
    assert.ok(cuts > 2, `${cuts} cuts`);
    const expected = await database.createEmpty();
    await migrateWithDrizzle(expected.url);
    assert.deepEqual(await readCatalog(url), await readCatalog(expected.url));
    const wrong = await query(
      url,
      `SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY build_id ORDER BY id) - 1 AS expected FROM jobs) AS numbered
       WHERE position <> expected OR step_id <> id OR scheduled_at <> created_at`,
    );
    assert.deepEqual(wrong, []);
    await drop();
    await expected.drop();
  });
});
