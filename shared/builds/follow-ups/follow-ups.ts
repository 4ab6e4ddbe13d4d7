import { secondMs } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Due } from "../../process/due.ts";
import type { Services } from "../../process/services.ts";
import { turns as bounds } from "../../sharing/bounds.ts";
import { openTasksByKey, Tasks } from "../../sharing/tasks.ts";
import { openTurns } from "../../sharing/turns.ts";
import type { FollowUpKind } from "../../vocabulary.ts";
import { type FollowUpHandlers, followUpHandlers } from "./handlers.ts";
import { findOwners } from "./owner-store.ts";
import { listLeftOver } from "./store.ts";

/** The process that left a follow-up does it sooner, unless it was killed. */
const leftOverAfterMs = 3 * secondMs;
const pageSize = 100;
const maxPages = 200;
/** One organization may have left any number. */
const maxOfOwner = 2000;

export interface FollowUps {
  /**
   * Does follow-ups that are a few seconds old, oldest first, up to a bound of each organization. The next call goes on
   * behind them, and begins anew after the last follow-up: one that fails again and again holds up no other.
   */
  doLeftOver(): Promise<void>;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
  /** Starts no further follow-up: a worker does the rest. */
  close(): Promise<void>;
}

/**
 * Does what transactions of this process make due, right after their commits. One of a subject runs at a time, and once
 * more if it became due again meanwhile.
 */
export function openFollowUps(services: Services, handlers: FollowUpHandlers = followUpHandlers): FollowUps {
  const { db, clock, due: events, log, metrics } = services;
  const turns = openTurns(bounds.followUps);
  const turnsOfKind = openTurns(bounds.followUpsOfKind);

  const tasks = openTasksByKey(
    async (key, signal) => {
      const { kind, subjectId, owner } = taskOf(key);
      const handle = async () => handlers[kind]?.(services, subjectId);
      await turnsOfKind.take(`${kind} ${owner}`, () => turns.take(owner, handle, signal), signal);
      metrics.followUps.inc({ kind, outcome: "done" });
    },
    (key, error) => {
      const { kind, subjectId } = taskOf(key);
      metrics.followUps.inc({ kind, outcome: "failed" });
      log.warn({ err: error, kind, subjectId }, "a follow-up failed; a worker will try again");
    },
  );
  /** Resolves once their tasks have begun. Organizations take turns. */
  const add = async (due: Due[]) => {
    const handled = due.filter(({ kind }) => handlers[kind]);
    if (handled.length === 0) return;
    const owners = await findOwners(db, handled).catch((error) => {
      log.warn({ err: error }, "the organizations of follow-ups could not be read; a worker will try again");
      return undefined;
    });
    if (!owners) return;
    for (const each of handled) tasks.add(keyOf(each, owners.get(each.subjectId) ?? nobody));
  };
  const adding = new Tasks();
  /** The next call of `doLeftOver` begins behind this id. Undefined: with the oldest follow-up. */
  let startId: string | undefined;
  const stopListening = events.listen((due) => adding.add(add(due)));
  const idle = async () => {
    await adding.idle();
    await tasks.idle();
  };

  return {
    async doLeftOver() {
      const beforeId = lowestIdAt(new Date(clock.now().getTime() - leftOverAfterMs));
      const added = new Map<string, number>();
      let afterId = startId;
      let firstSkipped: string | undefined;
      for (let page = 0; page < maxPages; page++) {
        const found = await listLeftOver(db, { afterId, beforeId, limit: pageSize });
        const owners = await findOwners(db, found);
        for (const each of found) {
          const owner = owners.get(each.subjectId) ?? nobody;
          const count = added.get(owner) ?? 0;
          added.set(owner, count + 1);
          if (count >= maxOfOwner) firstSkipped ??= afterId;
          else if (handlers[each.kind]) tasks.add(keyOf(each, owner));
          afterId = each.id;
        }
        if (found.length < pageSize) {
          afterId = undefined;
          break;
        }
      }
      startId = firstSkipped ?? afterId;
      await tasks.idle();
    },
    idle,
    async close() {
      stopListening();
      await adding.close();
      await tasks.close();
    },
  };
}

/** The owner of subjects that were deleted. */
const nobody = "nobody";

function keyOf({ kind, subjectId }: Due, owner: string): string {
  return `${kind} ${subjectId} ${owner}`;
}

function taskOf(key: string): Due & { owner: string } {
  const [kind, subjectId, owner] = key.split(" ") as [FollowUpKind, string, string];
  return { kind, subjectId, owner };
}
