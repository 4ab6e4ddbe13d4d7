import type { FigureSource } from "../../figures/roll-up.ts";
import { findTimeOfNextId } from "../../figures/store.ts";
import { countBuilds } from "./figures-store.ts";

export const buildFigures: FigureSource = {
  name: "builds",
  figures: ["builds_created"],
  findNext: (db, from) => findTimeOfNextId(db, db.tables.builds.id, from),
  async count(db, from, to) {
    const counts = await countBuilds(db, from, to);
    return counts.map(({ organizationId: subjectId, value }) => ({
      subjectId,
      figure: "builds_created",
      value,
    }));
  },
};
