import { hourMs, secondMs } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Services } from "../../process/services.ts";
import { Tasks } from "../../sharing/tasks.ts";
import { type Delivery, delayDue, lockDue, setDue } from "../deliveries/store.ts";
import type { FilterLanes } from "./lanes.ts";
import type { FilterMisses } from "./misses-store.ts";
import { type Evaluated, FilterTurn, maxTurnMs } from "./turn.ts";

/** Evaluates the filters of due deliveries, organization by organization. */
export interface DueFilters {
  /** Evaluates what is due of an organization, unless this process does so already. */
  serve(organizationId: string): void;
  /** Resolves once nothing is evaluated or decided. */
  idle(): Promise<void>;
  /** Makes claimed deliveries due again. */
  close(): Promise<void>;
}

/** A worker claims the deliveries of a slice for so long. Another one takes over from a worker that was killed. */
export const claimMs = 30 * secondMs;
/** A delivery that has waited this long for a filter that backs off is decided without it. */
const maxBackOffMs = hourMs;
const backedOffTooLong = { error: "The filter missed its deadline again and again" };
/** A change of the filter ends the back-off: its deliveries are looked at again after so long. */
const maxDelayMs = 50 * secondMs;
const maxSliceDeliveries = 500;
/** The limit of a slice's payloads in memory. A larger one goes alone. */
const maxSliceBytes = 4 * 1024 * 1024;

/** @param decide stores results. The next slice is evaluated meanwhile */
export function openDueFilters(
  services: Services,
  lanes: FilterLanes,
  decide: (evaluated: Evaluated[]) => Promise<unknown>,
): DueFilters {
  const { log } = services;
  /** By organization: whether it has to be looked at once more. */
  const served = new Map<string, boolean>();
  const tasks = new Tasks();
  const { signal } = tasks;

  const serve = async (organizationId: string) => {
    let deciding: Promise<unknown> = Promise.resolve();
    try {
      for (;;) {
        served.set(organizationId, false);
        const evaluated = await lanes.take(
          organizationId,
          (evaluate) => {
            const turn = new FilterTurn(services, evaluate);
            return evaluateSlice(services, {
              organizationId,
              turn,
              averageMs: lanes.averageMs(organizationId),
            });
          },
          signal,
        );
        await deciding;
        if (!evaluated && !served.get(organizationId)) break;
        deciding = decide(evaluated ?? []);
        deciding.catch(() => {}); // it is awaited once the next slice is evaluated
      }
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error, organizationId }, "filters were not evaluated; they will be");
    }
    served.delete(organizationId);
  };
  return {
    serve(organizationId) {
      if (served.has(organizationId)) served.set(organizationId, true);
      else if (!signal.aborted) tasks.add(serve(organizationId));
    },
    idle: () => tasks.idle(),
    async close() {
      const closed = tasks.close();
      await lanes.close();
      await closed;
    },
  };
}

interface Slice {
  organizationId: string;
  turn: FilterTurn;
  averageMs: number;
}

/** @returns undefined if nothing is due */
async function evaluateSlice(services: Services, slice: Slice): Promise<Evaluated[] | undefined> {
  const { db, clock } = services;
  const { turn } = slice;
  const claimed = await claim(services, slice);
  if (claimed.length === 0) return undefined;
  try {
    await turn.evaluateAll(claimed.map(({ id }) => id));
  } catch (error) {
    await db.transaction((tx) => setDue(tx, { ids: idsOf(claimed), dueAt: clock.now() })).catch(() => {});
    throw error;
  }
  const done = new Set(turn.evaluated.map(({ id }) => id));
  const left = claimed.filter(({ id }) => !done.has(id));
  const overdue: Evaluated[] = [];
  for (const misses of turn.backingOff.values())
    overdue.push(
      ...(await backOff(
        services,
        misses,
        left.filter(({ triggerId }) => triggerId === misses.triggerId),
      )),
    );
  const others = left.filter(({ triggerId }) => !turn.backingOff.has(triggerId));
  if (others.length > 0) await db.transaction((tx) => setDue(tx, { ids: idsOf(others), dueAt: clock.now() }));
  return [...turn.evaluated, ...overdue];
}

/** Claims as many deliveries as a turn may evaluate, at least one. */
function claim({ db, clock }: Services, { organizationId, averageMs }: Slice): Promise<Delivery[]> {
  const now = clock.now();
  const limit = Math.min(maxSliceDeliveries, Math.max(1, Math.floor(maxTurnMs / averageMs)));
  return db.transaction(async (tx) => {
    const due = await lockDue(tx, { organizationId, isFiltered: true, now, limit });
    let bytes = 0;
    const fits = ({ size }: Delivery, index: number) => {
      bytes += size;
      return index === 0 || bytes <= maxSliceBytes;
    };
    const claimed = due.filter(fits);
    await setDue(tx, { ids: idsOf(claimed), dueAt: new Date(now.getTime() + claimMs) });
    return claimed.sort((a, b) => (a.id < b.id ? -1 : 1));
  });
}

/** Delays deliveries of a trigger until its filter is tried again. @returns those that have waited too long for it */
async function backOff(
  { db, clock }: Services,
  { filter, triggerId, retryAt }: FilterMisses,
  left: Delivery[],
): Promise<Evaluated[]> {
  const now = clock.now();
  const after = lowestIdAt(new Date(now.getTime() - maxBackOffMs));
  const until = new Date(Math.min(retryAt.getTime(), now.getTime() + maxDelayMs));
  const waiting = left.filter(({ id }) => id > after);
  await db.transaction(async (tx) => {
    await setDue(tx, { ids: idsOf(waiting), dueAt: until });
    await delayDue(tx, { triggerId, after, now, until }, maxSliceDeliveries);
  });
  const overdue = left.filter(({ id }) => id <= after);
  return overdue.map(({ id }) => ({ id, result: { filter, outcome: backedOffTooLong } }));
}

function idsOf(deliveries: Delivery[]): string[] {
  return deliveries.map(({ id }) => id);
}
