import type { ConditionReader } from "../builds/making/condition-facts.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { listJobsById } from "../builds/rows/job-store.ts";
import type { Tx } from "../db/database.ts";
import { type News, subjectsOf } from "../news/store.ts";
import { kindOf } from "../pipelines/notify/kinds.ts";
import type { BuildEvent, Notice, NoticeKind } from "../vocabulary.ts";
import { noticeTester } from "./conditions.ts";
import type { DueNotice } from "./due-notice.ts";
import { eventsOfKinds, type NoticeEvent, stillHolds } from "./events.ts";
import { listBuildsWithNotices } from "./store.ts";
import { type Unit, unitReader } from "./units.ts";

/** Finds the notices of these kinds that are due at news of an organization, in the order of the news. */
export async function findDueNotices(
  tx: Tx,
  reader: ConditionReader,
  news: readonly News[],
  kinds: readonly NoticeKind[],
): Promise<DueNotice[]> {
  const builds = await listBuildsWithNotices(tx, subjectsOf(news, "buildId"));
  if (builds.size === 0) return [];
  const relevant = news.filter(({ buildId, jobId }) => {
    const build = builds.get(buildId ?? "");
    return build && (jobId === null ? build.notify !== null : build.tellsOfJobs);
  });
  const jobs = await listJobsById(tx, subjectsOf(relevant, "jobId"));
  const readUnits = unitReader(tx);
  const happened: DueNotice[] = [];
  for (const each of relevant) {
    const build = builds.get(each.buildId ?? "") as Build;
    const add = (notices: Notice[], events: readonly NoticeEvent[], unit?: Unit) => {
      for (const [index, notice] of notices.entries()) {
        const kind = kindOf(notice);
        const event = events.find((event) => eventsOfKinds[kind]?.includes(event));
        if (event === undefined || !kinds.includes(kind)) continue;
        happened.push({ news: each, build, notice, event, unit, place: `${unit?.id ?? "build"}:${index}` });
      }
    };
    if (each.jobId === null) {
      if (stillHolds(each.event, build)) add(build.notify ?? [], [each.event as BuildEvent]);
      continue;
    }
    const job = jobs.get(each.jobId);
    if (!job) continue;
    for (const { unit, events } of await readUnits(each, job)) add(unit.notices, events, unit);
  }
  return noticeTester(tx, reader)(happened);
}
