import { restBetweenTransactions } from "../../db/batches.ts";
import type { Tx } from "../../db/database.ts";
import { hourMs, hourOf, minuteMs } from "../../durations.ts";
import { lowestIdAt, timeOfId } from "../../ids.ts";
import { addToTotals } from "../../retention/totals-store.ts";
import type { Services } from "../../services/services.ts";
import { findPayloadId, lockTotals, setCountedBelow, sumPayloadBytes } from "./totals-store.ts";

/**
 * A payload commits after its id was made, and server clocks differ. A payload that commits later than this is never
 * counted.
 */
const countedAfterMs = 10 * minuteMs;
/** A transaction takes milliseconds, a run seconds. */
const defaultLimits = { rowsAtOnce: 5000, maxTransactions: 200 };

/**
 * Adds payloads to the totals in the order of their ids, where the last run stopped. Commits payloads and progress
 * together, so a crash or a second worker counts none twice.
 */
export async function countPayloads(
  { db, log }: Services,
  { rowsAtOnce, maxTransactions }: typeof defaultLimits = defaultLimits,
): Promise<void> {
  for (let run = 0; run < maxTransactions; run++) {
    const hasCounted = await db.transaction((tx) => countNextPayloads(tx, rowsAtOnce));
    if (!hasCounted) return;
    await restBetweenTransactions();
  }
  log.info("payloads remain to be counted; the next run goes on");
}

/** @returns false if all payloads are counted that are old enough */
async function countNextPayloads(tx: Tx, maxRows: number): Promise<boolean> {
  const countedBelow = await lockTotals(tx);
  const tooYoung = lowestIdAt(new Date(tx.now.getTime() - countedAfterMs));
  const from = await findPayloadId(tx, { from: countedBelow, below: tooYoung }, 0);
  if (from === undefined) return false;

  const hour = hourOf(timeOfId(from));
  const nextHour = lowestIdAt(new Date(hour.getTime() + hourMs));
  const end = nextHour < tooYoung ? nextHour : tooYoung;
  const below = (await findPayloadId(tx, { from, below: end }, maxRows)) ?? end;
  await addToTotals(tx, tx.tables.payloadTotals, hour, await sumPayloadBytes(tx, { from, below }));
  await setCountedBelow(tx, below);
  return true;
}
