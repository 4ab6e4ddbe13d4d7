import type { FigureSource } from "../../figures/roll-up.ts";
import { type Figure, findTimeOfNextId } from "../../figures/store.ts";
import type { DeliveryStatus, FigureName } from "../../vocabulary.ts";
import { listOrganizationsOfTriggers } from "../store.ts";
import { countDeliveries } from "./figures-store.ts";

const figureOf: Record<DeliveryStatus, FigureName> = {
  build_created: "deliveries_built",
  not_run: "deliveries_filtered",
  failed: "deliveries_failed",
};

export const deliveryFigures: FigureSource = {
  name: "deliveries",
  figures: [...Object.values(figureOf), "deliveries_undecided"],
  findNext: (db, from) => findTimeOfNextId(db, db.tables.deliveries.id, from),
  async count(db, from, to) {
    const counts = (await countDeliveries(db, from, to)).map(
      ({ triggerId, status, value }): Count => ({
        subjectId: triggerId,
        figure: status ? figureOf[status] : "deliveries_undecided",
        value,
      }),
    );
    const triggerIds = [...new Set(counts.map(({ subjectId }) => subjectId))];
    const organizations = await listOrganizationsOfTriggers(db, triggerIds);
    return [...counts, ...sumByOrganization(counts, organizations)];
  },
};

type Count = Omit<Figure, "time">;

function sumByOrganization(counts: Count[], organizations: Map<string, string>): Count[] {
  const sums = new Map<string, Count>();
  for (const { subjectId: triggerId, figure, value } of counts) {
    const subjectId = organizations.get(triggerId);
    if (!subjectId) continue;
    const key = `${subjectId} ${figure}`;
    sums.set(key, { subjectId, figure, value: value + (sums.get(key)?.value ?? 0) });
  }
  return [...sums.values()];
}
