import type { Build } from "../builds/rows/build-store.ts";
import type { News } from "../news/store.ts";
import type { Notice } from "../vocabulary.ts";
import type { NoticeEvent } from "./events.ts";
import type { Unit } from "./units.ts";

/** A notice to send now: its event happened, and its condition holds. */
export interface DueNotice {
  news: News;
  build: Build;
  notice: Notice;
  event: NoticeEvent;
  /** Undefined: the build. */
  unit: Unit | undefined;
  /** Names the notice in its build: that of `build`, of a step or of a group, and its place among the others there. */
  place: string;
}
