import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOrganization } from "../../shared/accounts/organization-store.ts";
import type { Db } from "../../shared/db/database.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { Refusal } from "../../shared/refusal.ts";
import { openServices, type Services } from "../../shared/services/services.ts";
import { makeDemoWeek, type WeekOptions } from "./week.ts";
import { slug } from "./world.ts";

/** Nobody waits for the work of this organization, so there is no Redis at its address. */
const noRedis = "redis://127.0.0.1:1";
const rowsAtOnce = 500;

/**
 * Makes an organization with a week of work in a database of its own, and copies it: workers of the installation would
 * do its work at the present time.
 * @returns how to sign in, and counts
 * @throws Refusal 422 if it is there already
 */
export async function makeDemoData(services: Services, options: WeekOptions) {
  if (await findOrganization(services.db, slug))
    throw new Refusal(422, `There is an organization ${slug} already, so nothing was made.`);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-demo-"));
  const config = { ...services.config, databaseUrl: `file:${join(folder, "week.db")}`, redisUrl: noRedis };
  const clock = { at: new Date(), now: () => clock.at };
  try {
    await migrate(config.databaseUrl);
    const ofWeek = openServices({ config, log: services.log, clock });
    try {
      const made = await makeDemoWeek(ofWeek, clock, options);
      await copyRows(ofWeek.db, services.db);
      return made;
    } finally {
      await ofWeek.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies all but settings, in one transaction. Tables are in the order of their foreign keys. */
async function copyRows(from: Db, to: Db): Promise<void> {
  const { settings, ...tables } = from.tables;
  const copied: [keyof typeof tables, object[]][] = [];
  for (const name of Object.keys(tables) as (keyof typeof tables)[])
    copied.push([name, await from.select().from(tables[name])]);
  await to.transaction(async (tx) => {
    for (const [name, rows] of copied)
      for (let at = 0; at < rows.length; at += rowsAtOnce)
        await tx
          .insert(tx.tables[name])
          .values(rows.slice(at, at + rowsAtOnce) as never)
          .onConflictDoNothing(); // other workers have sampled the queues too
  });
}
