import type { FigureSource } from "../../figures/roll-up.ts";
import type { DeliveryStatus, FigureName } from "../../vocabulary.ts";
import { countDeliveries, findDeliveryTime } from "./figures-store.ts";

const figureOf: Record<DeliveryStatus, FigureName> = {
  build_created: "deliveries_built",
  not_run: "deliveries_filtered",
  failed: "deliveries_failed",
};

/** What became of the deliveries of each trigger. */
export const deliveryFigures: FigureSource = {
  name: "deliveries",
  figures: [...Object.values(figureOf), "deliveries_undecided"],
  findNext: findDeliveryTime,
  async count(db, from, to) {
    const counts = await countDeliveries(db, from, to);
    return counts.map(({ triggerId, status, value }) => ({
      subjectId: triggerId,
      figure: status ? figureOf[status] : "deliveries_undecided",
      value,
    }));
  },
};
