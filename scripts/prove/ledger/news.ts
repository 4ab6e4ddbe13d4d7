import { finishedBuildStates } from "../../../shared/vocabulary.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

/** The receiver of a notification service was told the last state of each build. */
export const checkNews = checkOf(
  "news",
  function* (told: ReadonlyMap<string, string> | undefined, { builds }: Pick<Ledger, "builds">) {
    if (!told) return;
    for (const { id, number, state } of builds) {
      if (!finishedBuildStates.includes(state) || told.get(id) === state) continue;
      yield `build ${number} (${id}) is ${state}, but its receiver was told ${told.get(id) ?? "nothing"}`;
    }
  },
);
