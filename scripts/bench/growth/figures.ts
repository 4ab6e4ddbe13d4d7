import { hourMs, hourOf, minuteMs } from "../../../shared/durations.ts";
import { figureRetentionMs } from "../../../shared/figures/fold.ts";
import { sampleMinutes } from "../../../shared/figures/samples.ts";
import type { FigureName } from "../../../shared/vocabulary.ts";
import type { Base } from "./base.ts";
import type { Bulk } from "./bulk.ts";

const ofTriggers = ["deliveries_built", "deliveries_filtered", "deliveries_failed"] as const;
const ofOrganizations = ["builds_created"] as const;
const sampled = ["jobs_waiting", "jobs_running", "agents_connected"] as const;
const ofQueues = [...sampled, "waited_1", "waited_60"] as const;
const sampledHours = 24;

/** Inserts what the charts of pages show: each hour that is kept has all figures, however many rows there are. */
export async function insertFigures(bulk: Bulk, base: Base, now: number): Promise<void> {
  const thisHour = hourOf(new Date(now)).getTime();
  const insert = async (subjectId: string, figures: readonly FigureName[], minutes: number, from: number) => {
    const times = Array.from(
      { length: Math.floor((thisHour - from) / (minutes * minuteMs)) },
      (_, index) => from + index * minutes * minuteMs,
    );
    const rows = times.flatMap((time, index) =>
      figures.map((figure) => ({
        subjectId,
        time: new Date(time),
        figure,
        minutes,
        value: 1 + (index % 20),
      })),
    );
    await bulk.insert(bulk.tables.figures, rows);
  };

  const first = hourOf(new Date(now - figureRetentionMs)).getTime() + hourMs;
  await insert(base.organizationId, ofOrganizations, 60, first);
  for (const id of base.triggerIds.values()) await insert(id, ofTriggers, 60, first);
  for (const id of base.queueIds) {
    await insert(id, ofQueues, 60, first);
    await insert(id, sampled, sampleMinutes, thisHour - sampledHours * hourMs);
  }
}
