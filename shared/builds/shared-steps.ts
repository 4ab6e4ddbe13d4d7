import type { Tx } from "../db/database.ts";
import { findFact, putFact } from "../db/facts-store.ts";
import { dayMs, minuteMs } from "../durations.ts";
import type { Services } from "../process/services.ts";
import { hasBuilds } from "./shared-steps-store.ts";

// A process of an older version cannot read jobs that refer to the first one of their step. So jobs may refer only while
// all processes are known to read them. Workers look, and say so for a minute: without Redis or workers, new jobs have
// their text themselves.

const fact = "builds.shared_steps";
/** Older processes that are not listed, such as those that start later, are waited for. */
const graceMs = dayMs;
/** Workers look several times in this time. */
const knownForMs = minuteMs;

/** Times of the database's clock, in milliseconds. */
interface Permission {
  from: number;
  until: number;
}

/** Lets new jobs refer to the first one of their step, if all processes can read that. */
export async function renewSharedSteps({ db, processes }: Services): Promise<void> {
  const doAllRead = await processes.doAll("readsSharedSteps");
  await db.transaction(async (tx) => {
    const now = tx.now.getTime();
    const known = await findPermission(tx);
    const mayBeOlder = known === undefined && (await hasBuilds(tx));
    if (doAllRead === false || mayBeOlder) await forbidSharedSteps(tx);
    else await putPermission(tx, { from: known?.from ?? now, until: doAllRead ? now + knownForMs : 0 });
  });
}

/** True: a new job may refer to the first one of its step. */
export async function mayShareSteps(tx: Tx): Promise<boolean> {
  const permission = await findPermission(tx);
  const now = tx.now.getTime();
  return permission !== undefined && permission.from <= now && now < permission.until;
}

/** For a day, new jobs have the text of their step themselves: an older version may run. */
export function forbidSharedSteps(tx: Tx): Promise<void> {
  return putPermission(tx, { from: tx.now.getTime() + graceMs, until: 0 });
}

async function findPermission(tx: Tx): Promise<Permission | undefined> {
  const text = await findFact(tx, fact);
  return text === undefined ? undefined : JSON.parse(text);
}

function putPermission(tx: Tx, permission: Permission): Promise<void> {
  return putFact(tx, fact, JSON.stringify(permission));
}
