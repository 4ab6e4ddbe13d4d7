import { openFollowUps } from "../../shared/builds/follow-ups/follow-ups.ts";
import type { Services } from "../../shared/process/services.ts";

/** Waits for what transactions made due. */
export function openSettling(services: Services) {
  const clock = { ...services.clock, now: () => new Date(Date.now() + 60_000) };
  const worker = openFollowUps({ ...services, clock });
  return {
    /** The process does what is due, and so does this worker, until no row is left. */
    async settle(): Promise<void> {
      const { followUps } = services.db.tables;
      while ((await services.db.select().from(followUps)).length > 0) await worker.doLeftOver();
    },
    close: () => worker.close(),
  };
}
