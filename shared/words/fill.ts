// Words of builds and deliveries are written later, by workers, so that nobody waits for them. Ids rise with time, so that
// two of them say what has its words: what lies between. New rows extend it upwards at once; those made before an upgrade
// extend it downwards, newest first.

import { setTimeout as sleep } from "node:timers/promises";
import type { Tx } from "../db/database.ts";
import { minuteMs } from "../durations.ts";
import { lowestIdAt } from "../ids.ts";
import type { Services } from "../services/services.ts";
import { lockFilled, putFilled, type Subject } from "./fill-store.ts";
import {
  type BuildTexts,
  type IdRange,
  insertWords,
  listBuildTexts,
  listDeliveryNames,
  wordOfBranch,
  wordOfDelivery,
  wordsOfMessage,
} from "./store.ts";

/** A row commits after its id was made. */
const filledAfterMs = minuteMs;
/** Writes of others wait for some milliseconds. */
const rowsAtOnce = 200;
const defaults = { maxBatches: 100, restFactor: 3 };
const lowestId = lowestIdAt(new Date(0));

/** Gives builds and deliveries their words, in small transactions. The next run goes on where this one stops. */
export async function fillWords(
  { db, clock }: Pick<Services, "db" | "clock">,
  { maxBatches, restFactor } = defaults,
): Promise<void> {
  const below = lowestIdAt(new Date(clock.now().getTime() - filledAfterMs));
  for (const subject of ["builds", "deliveries"] as const)
    for (let batch = 0; batch < maxBatches; batch++) {
      const startedAt = performance.now();
      if (!(await db.transaction((tx) => fillNext(tx, subject, below)))) break;
      await sleep(restFactor * (performance.now() - startedAt));
    }
}

/** @returns false: there was nothing to do */
async function fillNext(tx: Tx, subject: Subject, below: string): Promise<boolean> {
  const filled = (await lockFilled(tx, subject)) ?? { first: below, last: below };
  const newer = await fillSome(tx, subject, { above: filled.last, below, order: "oldest first" });
  if (newer !== undefined) {
    await putFilled(tx, subject, { ...filled, last: newer });
    return true;
  }
  if (filled.first === lowestId) return false;
  const older = await fillSome(tx, subject, { above: lowestId, below: filled.first, order: "newest first" });
  await putFilled(tx, subject, { ...filled, first: older ?? lowestId });
  return true;
}

/** @returns the id of the last row; undefined if there is none */
async function fillSome(tx: Tx, subject: Subject, range: IdRange): Promise<string | undefined> {
  if (subject === "deliveries") {
    const deliveries = await listDeliveryNames(tx, range, rowsAtOnce);
    await insertWords(tx, deliveries.flatMap(wordOfDelivery));
    return deliveries.at(-1)?.id;
  }
  const builds = await listBuildTexts(tx, range, rowsAtOnce);
  await insertWords(tx, [...builds.flatMap(wordsOfMessage), ...lastOfBranches(builds).map(wordOfBranch)]);
  return builds.at(-1)?.id;
}

/** The name of a branch leads to one of its builds: more rows would be of no use. */
function lastOfBranches(builds: BuildTexts[]): BuildTexts[] {
  const oldestFirst = builds.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return [...new Map(oldestFirst.map((each) => [`${each.pipelineId} ${each.branch}`, each])).values()];
}
