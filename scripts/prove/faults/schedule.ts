import { setTimeout as sleep } from "node:timers/promises";
import type { Installation } from "../installation/installation.ts";
import { pick, type Random } from "../random.ts";
import type { Timeline } from "../timeline.ts";
import type { Fault, Injected } from "./fault.ts";

export interface Schedule {
  /** Injects no more, and undoes what lasts. Rejects if a fault could not be undone. */
  stop(): Promise<void>;
}

export interface ScheduleOptions<Place = Installation> {
  installation: Place;
  faults: Fault<Place>[];
  perSecond: number;
  random: Random;
  timeline: Timeline;
}

/** Injects faults until stopped. Each round draws every kind by its weight. */
export function startFaults<Place>(options: ScheduleOptions<Place>): Schedule {
  const { installation, faults, perSecond, random, timeline } = options;
  const isOver = new AbortController();
  const lasting = new Map<Injected, () => Promise<void>>();
  const failures: unknown[] = [];
  let round: Fault<Place>[] = [];

  const draw = (): Fault<Place> => {
    if (round.length === 0) round = faults.flatMap((fault) => Array<Fault<Place>>(fault.weight).fill(fault));
    const drawn = pick(random, round);
    round.splice(round.indexOf(drawn), 1);
    return drawn;
  };

  const inject = async (fault: Fault<Place>) => {
    const injected = await fault.inject(installation, random).catch(() => undefined);
    if (!injected) return;
    const record = timeline.begin(fault.kind, injected.target);
    if (!injected.lasting) return timeline.end(record);
    const undo = async () => {
      if (!lasting.delete(injected)) return;
      await injected.lasting?.undo();
      timeline.end(record);
    };
    lasting.set(injected, undo);
    setTimeout(() => undo().catch((error) => failures.push(error)), injected.lasting.ms);
  };

  const run = async () => {
    const injecting = new Set<Promise<void>>();
    while (!isOver.signal.aborted) {
      const gapMs = random(2000) / perSecond;
      await sleep(gapMs, undefined, { signal: isOver.signal }).catch(() => {});
      if (isOver.signal.aborted) break;
      const running = inject(draw()).finally(() => injecting.delete(running));
      injecting.add(running);
    }
    await Promise.all(injecting);
    for (const undo of [...lasting.values()]) await undo();
    if (failures.length > 0) throw failures[0];
  };
  const running = run();
  running.catch(() => {}); // `stop` rejects
  return {
    async stop() {
      isOver.abort();
      await running;
    },
  };
}
