import { secondMs } from "../../durations.ts";
import { lowestIdAt } from "../../ids.ts";
import type { Due } from "../../process/due.ts";
import type { Services } from "../../process/services.ts";
import { turns as bounds } from "../../sharing/bounds.ts";
import { openTasksByKey } from "../../sharing/tasks.ts";
import { openTurns } from "../../sharing/turns.ts";
import type { FollowUpKind } from "../../vocabulary.ts";
import { type FollowUpHandlers, followUpHandlers } from "./handlers.ts";
import { listLeftOver } from "./store.ts";

/** Their process does them within it, or was killed. */
const leftOverAfterMs = 3 * secondMs;
const pageSize = 100;
const maxPages = 20;

export interface FollowUps {
  /**
   * Does those that are a few seconds old, oldest first, up to a bound. The next call goes on after them, and begins anew
   * after the last one: those that fail again and again do not keep it from the others.
   */
  doLeftOver(): Promise<void>;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
  /** Starts no further one: a worker does them. */
  close(): Promise<void>;
}

/**
 * Does what transactions of this process make due, right after their commits. One of a subject runs at a time, and once
 * more if it became due again meanwhile.
 */
export function openFollowUps(services: Services, handlers: FollowUpHandlers = followUpHandlers): FollowUps {
  const { db, clock, due: events, log, metrics } = services;
  const turns = openTurns(bounds.followUps);

  const tasks = openTasksByKey(
    async (key, signal) => {
      const { kind, subjectId } = dueOf(key);
      await turns.take(kind, async () => handlers[kind]?.(services, subjectId), signal);
      metrics.followUps.inc({ kind, outcome: "done" });
    },
    (key, error) => {
      const { kind, subjectId } = dueOf(key);
      metrics.followUps.inc({ kind, outcome: "failed" });
      log.warn({ err: error, kind, subjectId }, "a follow-up failed; a worker will try again");
    },
  );
  const add = (due: Due[]) => {
    for (const each of due) if (handlers[each.kind]) tasks.add(keyOf(each));
  };
  const stopListening = events.listen(add);
  let afterId: string | undefined;

  return {
    async doLeftOver() {
      const beforeId = lowestIdAt(new Date(clock.now().getTime() - leftOverAfterMs));
      for (let page = 0; page < maxPages; page++) {
        const found = await listLeftOver(db, { afterId, beforeId, limit: pageSize });
        add(found);
        await tasks.idle();
        afterId = found[pageSize - 1]?.id;
        if (afterId === undefined) return;
      }
    },
    idle: () => tasks.idle(),
    async close() {
      stopListening();
      await tasks.close();
    },
  };
}

function keyOf({ kind, subjectId }: Due): string {
  return `${kind} ${subjectId}`;
}

function dueOf(key: string): Due {
  const [kind, subjectId] = key.split(" ") as [FollowUpKind, string];
  return { kind, subjectId };
}
