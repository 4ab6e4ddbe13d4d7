import type { Tx } from "../../db/database.ts";
import { minuteMs } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Delivery } from "../deliveries/store.ts";
import { listFirstOfProviders, lockIfDue } from "./order-store.ts";

/** A delivery that cannot be decided holds up those behind it for so long. */
const maxHoldMs = minuteMs;

/**
 * Builds of pushes are numbered in the order of their deliveries, whichever worker makes them: a newer one may cancel those
 * before it. Leaves out deliveries of a provider behind one that others have. If nobody has that one, it comes with those
 * before it.
 * @param locked waiting deliveries of any triggers, locked
 * @param deciding deliveries that this process decides first
 * @param isFiltered the kind of deliveries that may be added
 * @returns the deliveries to go on with, in the order of arrival
 */
export async function inOrderOfProviders(
  tx: Tx,
  locked: Delivery[],
  { deciding = [], isFiltered, now }: { deciding?: readonly string[]; isFiltered: boolean; now: Date },
): Promise<Delivery[]> {
  const triggerIds = [...new Set(locked.map(({ triggerId }) => triggerId))];
  const besides = [...locked.map(({ id }) => id), ...deciding];
  const from = lowestIdAt(new Date(now.getTime() - maxHoldMs));
  const firstOf = new Map<string, string>();
  for (const { triggerId, first } of await listFirstOfProviders(tx, { triggerIds, besides, from, now }))
    if (first !== null) firstOf.set(triggerId, first);
  const isBehind = ({ id, triggerId }: Delivery) => id > (firstOf.get(triggerId) ?? id);
  const ids = [...new Set(locked.filter(isBehind).map(({ triggerId }) => firstOf.get(triggerId) ?? ""))];
  const free = ids.length === 0 ? [] : await lockIfDue(tx, { ids, isFiltered, now });
  return [...locked.filter((delivery) => !isBehind(delivery)), ...free].sort(byArrival);
}

function byArrival(a: Delivery, b: Delivery): number {
  return a.id < b.id ? -1 : 1;
}
