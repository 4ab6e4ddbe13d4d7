import type { Tx } from "../db/database.ts";
import type { News } from "../news/store.ts";
import { findDueNotices } from "../notices/due.ts";
import type { DueNotice } from "../notices/due-notice.ts";
import type { NewMessage } from "../outbox/kind.ts";
import type { Services } from "../services/services.ts";
import type { Notice } from "../vocabulary.ts";
import { withinLength } from "./contexts.ts";
import { contextOf, contextOfStep, messageOf, type PublishedBuild, type StatusTarget } from "./target.ts";

// Statuses that `notify` of a build, a step or a group asks for, whatever the settings of the pipeline say.

/** Makes messages of the notices that are due at news. */
export async function messagesOfNotices(
  tx: Tx,
  services: Services,
  news: News[],
  published: ReadonlyMap<string, PublishedBuild>,
): Promise<NewMessage[]> {
  if (published.size === 0) return [];
  const due = await findDueNotices(tx, services, news, ["github_commit_status", "github_check"]);
  return due.flatMap((notice) => {
    const about = published.get(notice.build.id);
    const jobId = notice.unit?.job.id ?? null;
    return about ? messageOf(about, notice.news.event, targetOf(services, about, notice), jobId) : [];
  });
}

/** The context that a notice names. */
function givenContext({ github_commit_status, github_check }: Notice): string | undefined {
  return github_commit_status?.context ?? github_check?.name;
}

function targetOf(services: Services, published: PublishedBuild, { notice, unit }: DueNotice): StatusTarget {
  const { blocked_builds_as_pending } = notice.github_commit_status ?? {};
  const given = givenContext(notice);
  const ofBuild = contextOf(services, published);
  if (!unit) {
    const blockedAsPending = blocked_builds_as_pending ?? false;
    return { context: withinLength(given ?? ofBuild), of: "build", notice: { blockedAsPending } };
  }
  if (unit.type === "group") {
    const name = unit.label ?? unit.key ?? "group";
    return { context: withinLength(given ?? `${ofBuild}/${name}`), of: "group", id: unit.id, notice: {} };
  }
  return {
    context: withinLength(given ?? contextOfStep(services, published, unit.job)),
    of: "step",
    id: unit.job.stepId,
    notice: unit.isCombination ? { jobId: unit.id } : {},
  };
}
