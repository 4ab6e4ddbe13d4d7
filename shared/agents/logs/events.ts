import { secondMs } from "../../durations.ts";
import type { Events } from "../../redis/events.ts";

export interface LogEvents {
  /** Notifies open pages, at most once a second for each job. */
  publish(jobId: string): void;
}

export function openLogEvents(events: Pick<Events, "publish">): LogEvents {
  /** Jobs of the last second, and whether more of their logs came since. */
  const recent = new Map<string, boolean>();

  const publish = (jobId: string) => {
    if (recent.has(jobId)) {
      recent.set(jobId, true);
      return;
    }
    recent.set(jobId, false);
    events.publish([`job:${jobId}`]);
    setTimeout(() => {
      const hasMore = recent.get(jobId);
      recent.delete(jobId);
      if (hasMore) publish(jobId);
    }, secondMs).unref();
  };
  return { publish };
}
