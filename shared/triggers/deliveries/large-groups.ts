import type { Services } from "../../process/services.ts";
import { turns as bounds } from "../../sharing/bounds.ts";
import { Tasks } from "../../sharing/tasks.ts";
import { openTurns } from "../../sharing/turns.ts";
import type { Evaluated } from "../filter/turn.ts";

export interface LargeGroups {
  add(organizationId: string, group: Evaluated[]): void;
  idle(): Promise<void>;
  /** Leaves waiting deliveries to `requeueStranded`. */
  close(): Promise<void>;
}

/** Builds deliveries whose builds have many jobs: organizations take turns, so that others' need not wait. */
export function openLargeGroups(
  services: Services,
  build: (group: Evaluated[]) => Promise<unknown>,
): LargeGroups {
  const turns = openTurns(bounds.largeGroups);
  const waiting = new Set<string>();
  const tasks = new Tasks();

  const buildInTurn = async (organizationId: string, group: Evaluated[]) => {
    try {
      await turns.take(
        organizationId,
        () => {
          for (const { id } of group) waiting.delete(id);
          return build(group);
        },
        tasks.signal,
      );
    } catch (error) {
      if (!tasks.signal.aborted)
        services.log.warn({ err: error, deliveries: group.length }, "could not build; will be requeued");
    } finally {
      for (const { id } of group) waiting.delete(id);
    }
  };
  return {
    add(organizationId, group) {
      // The other deliveries wait already: their background jobs were sent again.
      const added = group.filter(({ id }) => !waiting.has(id));
      if (added.length === 0) return;
      for (const { id } of added) waiting.add(id);
      tasks.add(buildInTurn(organizationId, added));
    },
    idle: () => tasks.idle(),
    close: () => tasks.close(),
  };
}
