import type { Tx } from "../../db/database.ts";
import { minuteMs } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Delivery } from "../deliveries/store.ts";
import { listFirstOfProviders, lockIfDue } from "./order-store.ts";

/** A delivery that cannot be decided holds up those behind it for so long. */
const maxHoldMs = minuteMs;

/**
 * Builds of pushes are numbered in the order of their deliveries, whichever worker makes them: a newer one may cancel those
 * before it. Leaves out deliveries of a provider while another worker has an earlier one of its pipeline. If nobody has the
 * earlier one, it takes their place.
 * @param locked due deliveries of any triggers, locked
 * @param deciding deliveries that this process decides first
 */
export async function inOrderOfProviders(
  tx: Tx,
  locked: Delivery[],
  { deciding, now }: { deciding: readonly string[]; now: Date },
): Promise<Delivery[]> {
  const triggerIds = [...new Set(locked.map(({ triggerId }) => triggerId))];
  const from = lowestIdAt(new Date(now.getTime() - maxHoldMs));
  const own = new Set([...locked.map(({ id }) => id), ...deciding]);
  const missing = new Map<string, string>();
  for (const { triggerId, first } of await listFirstOfProviders(tx, { triggerIds, from }))
    if (first !== null && !own.has(first)) missing.set(triggerId, first);
  const free = missing.size === 0 ? [] : await lockIfDue(tx, { ids: [...missing.values()], now });
  return [...locked.filter(({ triggerId }) => !missing.has(triggerId)), ...free].sort(byArrival);
}

function byArrival(a: Delivery, b: Delivery): number {
  return a.id < b.id ? -1 : 1;
}
