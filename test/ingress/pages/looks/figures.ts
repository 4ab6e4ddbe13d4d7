import { hourMs, hourOf } from "../../../../shared/durations.ts";
import type { FigureName, RefusalCause } from "../../../../shared/vocabulary.ts";
import type { Pages } from "../../../helpers/pages.ts";

/** Makes a week of a trigger with quiet nights, as if it had been counted. */
export async function exhibitWeek({ services, clock }: Pages, triggerId: string): Promise<void> {
  const { figures, refusedDeliveries } = services.db.tables;
  const now = hourOf(clock.now()).getTime();
  const hours = Array.from({ length: 160 }, (_, ago) => new Date(now - ago * hourMs));
  const rows = (figure: FigureName, countOf: (hour: number, ago: number) => number) =>
    hours.flatMap((time, ago) => {
      const value = Math.round(countOf(time.getUTCHours(), ago));
      return value > 0 ? [{ subjectId: triggerId, time, figure, minutes: 60, value }] : [];
    });
  const refusals = (cause: RefusalCause, within: (ago: number) => boolean, count: number) =>
    hours.filter((_, ago) => within(ago)).map((hour) => ({ triggerId, hour, cause, count }));
  await services.db.transaction(async (tx) => {
    await tx
      .insert(figures)
      .values([
        ...rows("deliveries_built", (hour, ago) => 60 * Math.sin((hour / 24) * Math.PI) ** 4 + (ago % 7)),
        ...rows("deliveries_filtered", (hour, ago) => (hour > 8 && hour < 19 ? (ago * 13) % 31 : 0)),
        ...rows("deliveries_failed", (_, ago) => (ago > 60 && ago < 66 ? 8 : 0)),
        ...rows("deliveries_undecided", (_, ago) => (ago === 20 ? 14 : 0)),
      ]);
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
