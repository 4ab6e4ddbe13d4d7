import { timeOfId } from "../../ids.ts";
import type { Services } from "../../process/services.ts";
import { laterWork } from "../../sharing/resources.ts";
import { Tasks } from "../../sharing/tasks.ts";
import { type Leased, openLeases } from "../filter/leases.ts";
import type { Evaluated } from "../filter/turn.ts";

export interface LargeGroups {
  add(organizationId: string, group: Evaluated[]): void;
  idle(): Promise<void>;
  /** Leaves waiting deliveries to other workers. */
  close(): Promise<void>;
}

/** Builds deliveries whose builds have many jobs: organizations take turns, so that others' need not wait. */
export function openLargeGroups(
  services: Services,
  build: (group: Evaluated[]) => Promise<unknown>,
): LargeGroups {
  /** Of deliveries that wait. */
  const leases = openLeases(services);
  const tasks = new Tasks();

  const buildInTurn = async (organizationId: string, group: Evaluated[]) => {
    try {
      await laterWork.take(
        organizationId,
        () => {
          for (const { id } of group) leases.delete(id);
          return build(group);
        },
        tasks.signal,
      );
    } catch (error) {
      if (!tasks.signal.aborted)
        services.log.warn({ err: error, deliveries: group.length }, "could not build; will be requeued");
    } finally {
      for (const { id } of group) leases.delete(id);
    }
  };
  return {
    add(organizationId, group) {
      // The other deliveries wait already: their background jobs were sent again.
      const added = group.filter((each) => !leases.isTaken(leasedOf(each)));
      if (added.length === 0) return;
      for (const each of added) leases.add(leasedOf(each));
      tasks.add(buildInTurn(organizationId, added));
    },
    idle: () => tasks.idle(),
    async close() {
      await leases.close();
      await tasks.close();
    },
  };
}

/** It may have been enqueued again since it was received: then its lease begins earlier than it must. */
function leasedOf({ id }: Evaluated): Leased {
  return { id, enqueuedAt: timeOfId(id) };
}
