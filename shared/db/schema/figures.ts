import type { FigureName } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";

export function defineFiguresTables(kit: Kit) {
  const { table, index, primaryKey, uuid, text, integer, time } = kit;

  /** Counts of a trigger, queue or organization in a minute or an hour. No row: 0. */
  const figures = table(
    "figures",
    {
      /** Deleted subjects keep their figures until these are purged. */
      subjectId: uuid("subject_id").notNull(),
      time: time().notNull(),
      figure: text().$type<FigureName>().notNull(),
      /** 1, 10 or 60: minutes are moved into hours. */
      minutes: integer().notNull(),
      value: integer().notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.subjectId, t.time, t.figure, t.minutes] }),
      // Serves the comparison of a minute, moving and purging.
      index("figures_age").on(t.figure, t.minutes, t.time),
    ],
  );

  return { figures };
}
