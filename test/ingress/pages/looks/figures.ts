import { eq } from "drizzle-orm";
import { hourMs, hourOf, minuteMs } from "../../../../shared/durations.ts";
import { newId } from "../../../../shared/ids.ts";
import type { Queue } from "../../../../shared/queues/store.ts";
import type { FigureName, RefusalCause } from "../../../../shared/vocabulary.ts";
import type { Pages } from "../../../helpers/pages.ts";

/** Makes a week of a trigger with quiet nights, as if it had been counted. */
export async function exhibitWeek({ services, clock }: Pages, triggerId: string): Promise<void> {
  const { figures, refusedDeliveries } = services.db.tables;
  const hours = hoursUntil(clock.now());
  const refusals = (cause: RefusalCause, within: (ago: number) => boolean, count: number) =>
    hours.filter((_, ago) => within(ago)).map((hour) => ({ triggerId, hour, cause, count }));
  await services.db.transaction(async (tx) => {
    await tx.insert(figures).values(weekOf(triggerId, hours));
    await tx
      .insert(refusedDeliveries)
      .values(
        [
          ...refusals("invalid_signature", (ago) => ago > 90 && ago < 110, 23),
          ...refusals("form_content_type", (ago) => ago % 50 === 1, 1),
        ].map((row) => ({ ...row, organizationId: null })),
      );
  });
}

/** Makes a week of an organization, as if it had been counted. */
export async function exhibitUse({ services, clock }: Pages, organizationId: string): Promise<void> {
  const week = weekOf(organizationId, hoursUntil(clock.now()));
  const builds = week
    .filter(({ figure }) => figure === "deliveries_built")
    .map((row) => ({ ...row, figure: "builds_created" as const, value: row.value + 2 }));
  await services.db.transaction((tx) => tx.insert(tx.tables.figures).values([...week, ...builds]));
}

/** 160 hours, the present one first. */
function hoursUntil(now: Date): Date[] {
  return Array.from({ length: 160 }, (_, ago) => new Date(hourOf(now).getTime() - ago * hourMs));
}

function weekOf(subjectId: string, hours: Date[]) {
  const rows = (figure: FigureName, countOf: (hour: number, ago: number) => number) =>
    hours.flatMap((time, ago) => {
      const value = Math.round(countOf(time.getUTCHours(), ago));
      return value > 0 ? [{ subjectId, time, figure, minutes: 60, value }] : [];
    });
  return [
    ...rows("deliveries_built", (hour, ago) => 60 * Math.sin((hour / 24) * Math.PI) ** 4 + (ago % 7)),
    ...rows("deliveries_filtered", (hour, ago) => (hour > 8 && hour < 19 ? (ago * 13) % 31 : 0)),
    ...rows("deliveries_failed", (_, ago) => (ago > 60 && ago < 66 ? 8 : 0)),
    ...rows("deliveries_undecided", (_, ago) => (ago === 20 ? 14 : 0)),
  ];
}

/** Makes a week of a queue that was paused at times, as if it had been counted. */
export async function exhibitQueue({ services, clock, ada }: Pages, { id, clusterId }: Queue): Promise<void> {
  const { db } = services;
  const { auditEvents, clusters, figures } = db.tables;
  const now = clock.now().getTime();
  const stepMs = 10 * minuteMs;
  const times = Array.from({ length: 1000 }, (_, ago) => new Date((Math.floor(now / stepMs) - ago) * stepMs));
  const isPaused = (ago: number) => (ago > 20 && ago < 50) || (ago > 300 && ago < 420);
  const isDown = (ago: number) => (ago > 80 && ago < 96) || (ago > 600 && ago < 650);
  const levels = times.flatMap((time, ago) => {
    if (isDown(ago)) return [];
    const work = Math.round(20 * Math.sin((time.getUTCHours() / 24) * Math.PI) ** 2 + (ago % 5));
    const values = {
      jobs_waiting: isPaused(ago) ? 3 * work : Math.max(0, work - 14),
      jobs_running: isPaused(ago) ? 0 : Math.min(12, work),
      agents_connected: 12,
    };
    return Object.entries(values).map(([figure, value]) => ({
      subjectId: id,
      time,
      minutes: 10,
      value,
      figure: figure as FigureName,
    }));
  });
  const [{ organizationId } = { organizationId: "" }] = await db
    .select({ organizationId: clusters.organizationId })
    .from(clusters)
    .where(eq(clusters.id, clusterId));
  const changes = [
    [50, "paused"],
    [20, "resumed"],
    [420, "paused"],
    [300, "resumed"],
  ] as const;
  await db.transaction(async (tx) => {
    for (let at = 0; at < levels.length; at += 1000)
      await tx.insert(figures).values(levels.slice(at, at + 1000).filter(({ value }) => value > 0));
    const waits = { waited_1: 800, waited_15: 300, waited_300: 70, waited_3600: 9 };
    const waited = Object.entries(waits).map(([figure, value]) => ({
      subjectId: id,
      time: new Date(now - hourMs),
      minutes: 60,
      value,
      figure: figure as FigureName,
    }));
    await tx.insert(figures).values(waited);
    await tx.insert(auditEvents).values(
      changes.map(([ago, action]) => {
        const createdAt = new Date(now - ago * stepMs);
        const subject = { subjectType: "queue", subjectId: id, subject: "deploy" };
        return { id: newId(createdAt), organizationId, actorId: ada.id, action, ...subject, createdAt };
      }),
    );
  });
}
