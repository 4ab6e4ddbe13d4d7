import { hourMs, hourOf, minuteMs } from "../../../shared/durations.ts";
import { figureRetentionMs } from "../../../shared/figures/hours.ts";
import { sampleMinutes } from "../../../shared/figures/samples.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { FigureName } from "../../../shared/vocabulary.ts";
import type { Base } from "./rows.ts";

const triggerFigures = ["deliveries_built", "deliveries_filtered", "deliveries_failed"] as const;
const sampledFigures = ["jobs_waiting", "jobs_running", "agents_connected"] as const;
const queueFigures = [...sampledFigures, "waited_1", "waited_60"] as const;
const sampledHours = 24;

/** Inserts what the charts of pages show: each hour that is kept has all figures, however many rows there are. */
export async function insertFigures({ db }: Services, base: Base): Promise<void> {
  const now = Date.now();
  const thisHour = hourOf(new Date(now)).getTime();
  const first = hourOf(new Date(now - figureRetentionMs)).getTime() + hourMs;
  await db.transaction(async (tx) => {
    const add = (subjectId: string, figures: readonly FigureName[], minutes = 60, from = first) => {
      const count = Math.floor((thisHour - from) / (minutes * minuteMs));
      const times = Array.from({ length: count }, (_, index) => new Date(from + index * minutes * minuteMs));
      const rows = times.flatMap((time, index) =>
        figures.map((figure) => ({ subjectId, time, figure, minutes, value: 1 + (index % 20) })),
      );
      return tx.insertMany(tx.tables.figures, rows);
    };
    await add(base.organizationId, ["builds_created"]);
    for (const { triggerId } of base.pipelines) await add(triggerId, triggerFigures);
    for (const id of base.queueIds) {
      await add(id, queueFigures);
      await add(id, sampledFigures, sampleMinutes, thisHour - sampledHours * hourMs);
    }
  });
}
