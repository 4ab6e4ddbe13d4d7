import { restBetweenTransactions } from "../../db/batches.ts";
import { hourMs } from "../../durations.ts";
import { idBelowAll } from "../../ids.ts";
import type { Expiring } from "../../retention/expiring.ts";
import { deleteEmptyGroups } from "./list-store.ts";

/** A group is made again when a job names it. */
const keptForMs = hourMs;
const batchSize = 200;

/** Concurrency groups that no job belongs to any more. */
export const emptyGroups: Expiring = {
  name: "concurrencyGroups",
  async purge({ db, clock }) {
    const before = new Date(clock.now().getTime() - keptForMs);
    let afterId: string | undefined = idBelowAll;
    let total = 0;
    while (afterId !== undefined) {
      const batch: { afterId: string; before: Date; limit: number } = { afterId, before, limit: batchSize };
      const { deleted, lastId } = await db.transaction((tx) => deleteEmptyGroups(tx, batch));
      total += deleted;
      afterId = lastId;
      if (afterId !== undefined) await restBetweenTransactions();
    }
    return total;
  },
};
