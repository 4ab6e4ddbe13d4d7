import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { samplingId } from "../../../shared/dispatch/figures.ts";
import { findWaits } from "../../../shared/dispatch/wait-figures.ts";
import { dayMs, hourOf, minuteMs } from "../../../shared/durations.ts";
import { sampleMinutes } from "../../../shared/figures/samples.ts";
import { type Figure, listFigures } from "../../../shared/figures/store.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { FigureName } from "../../../shared/vocabulary.ts";
import type { Series } from "../charts/bars.ts";
import type { Span } from "../charts/level-chart.tsx";
import { combineByTime, lastHours, timesUntil } from "../charts/times.ts";

const days = 7;
const maxPauses = 200;
const kinds: [figure: FigureName, name: string, kind: string][] = [
  ["jobs_waiting", "Jobs waiting", "tone-other"],
  ["jobs_running", "Jobs running", "tone-runs"],
  ["agents_connected", "Agents connected", "tone-passed"],
];
export const levelNames = kinds.map(([figure]) => figure);

export type QueueCharts = Awaited<ReturnType<typeof loadQueueCharts>>;

/** Counts of waiting jobs, running jobs and connected agents, in the last day and week. */
export async function loadQueueCharts({ db, clock }: Services, organizationId: string, queue: Queue) {
  const now = sampledUntil(clock.now());
  const since = hourOf(new Date(now.getTime() - days * dayMs));
  const rows = await listFigures(db.offLoop, [queue.id, samplingId], since, [
    ...levelNames,
    "queues_sampled",
  ]);
  const { figures = [], sampled = [] } = Object.groupBy(rows, ({ subjectId }) =>
    subjectId === queue.id ? "figures" : "sampled",
  );
  const day = lastSamples(now);
  const week = lastHours(now, days);
  return {
    isEmpty: figures.length === 0,
    waits: {
      day: await findWaits(db, queue.id, hourOf(new Date(now.getTime() - dayMs))),
      week: await findWaits(db, queue.id, since),
    },
    pauses: await listPauses({ db, clock }, organizationId, queue, since),
    day: levelsOf(day, figures, sampled),
    week: levelsOf(week, figures, sampled),
  };
}

/** The present minute may not be sampled yet. */
export function sampledUntil(now: Date): Date {
  return new Date(now.getTime() - minuteMs);
}

/** The times of the samples of a day. */
export function lastSamples(now: Date): Date[] {
  const stepMs = sampleMinutes * minuteMs;
  const last = new Date(Math.floor(now.getTime() / stepMs) * stepMs);
  return timesUntil(last, dayMs / stepMs, stepMs);
}

type Level = Omit<Figure, "subjectId">;

/** @param samples of the times at which a worker counted */
export function levelsOf(times: Date[], figures: Level[], samples: Level[]) {
  const series = kinds.map(([figure, name, kind]): Series => {
    const rows = figures.filter((row) => row.figure === figure);
    return { name, kind, values: combineByTime(times, rows, Math.max) };
  });
  const counted = combineByTime(times, [...samples, ...figures], Math.max);
  return { times, series, sampled: counted.map((value) => value > 0) };
}

/** Reads the last pauses of the queue from the audit log. */
async function listPauses(
  { db, clock }: Pick<Services, "db" | "clock">,
  organizationId: string,
  queue: Queue,
  since: Date,
): Promise<Span[]> {
  const subjects = { types: ["queue"], ids: [queue.id] };
  const entries = await listAuditEvents(db, { organizationId, subjects, from: since }, maxPauses);
  const pauses: Span[] = [];
  let from = queue.dispatchPausedAt && queue.dispatchPausedAt < since ? since : undefined;
  const changes = entries.map(({ event }) => event).filter(({ action }) => /^(paused|resumed)$/.test(action));
  for (const { action, createdAt } of changes.reverse()) {
    if (action === "paused") from = createdAt;
    else pauses.push({ from: from ?? since, to: createdAt });
    if (action === "resumed") from = undefined;
  }
  if (from) pauses.push({ from, to: clock.now() });
  return pauses;
}
