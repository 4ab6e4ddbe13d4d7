import type { AuditSubject } from "../../../shared/accounts/audit.ts";
import { listAuditPage } from "../../../shared/accounts/audit-store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type CursorNames, linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import { loadQueue, queuePath } from "../address/queue.ts";
import { loadTrigger, triggerPath } from "../address/trigger.ts";
import { AuditEntries } from "../ui/audit-list.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { CursorPager } from "../ui/pager.tsx";

const perPage = 50;
const cursorNames: CursorNames = { older: "before", newer: "after" };

interface Changed extends Pick<PageContent, "section" | "topics"> {
  subject: AuditSubject;
  /** Of its history. */
  path: string;
}

/** GET /organizations/:org/pipelines/:slug/history */
export const pipelineHistoryPage = historyOf(async (services, request) => {
  const { id, name } = await loadPipeline(services, request);
  return {
    subject: { type: "pipeline", id, name },
    path: pipelinePath(request, patterns.pipelineHistoryPage),
    section: "pipelines",
    topics: [`pipeline:${id}`],
  };
});

/** GET …/triggers/:trigger/history */
export const triggerHistoryPage = historyOf(async (services, request) => {
  const { trigger } = await loadTrigger(services, request);
  return {
    subject: { type: "trigger", id: trigger.id, name: trigger.label },
    path: triggerPath(request, trigger, patterns.triggerHistoryPage),
    section: "pipelines",
    topics: [`trigger:${trigger.id}`],
  };
});

/** GET …/queues/:queue/history */
export const queueHistoryPage = historyOf(async (services, request) => {
  const { queue } = await loadQueue(services, request);
  return {
    subject: { type: "queue", id: queue.id, name: queue.key },
    path: queuePath(request, queue, patterns.queueHistoryPage),
    section: "clusters",
    topics: [`queue:${queue.id}`],
  };
});

/** The changes of a thing, newest first, with the member, the token and the difference of each: for all members. */
function historyOf(load: (services: Services, request: MemberRequest) => Promise<Changed>) {
  return memberPage(async (services, request) => {
    const { subject, path, ...place } = await load(services, request);
    const cursor = readIdPage(request.event, cursorNames, perPage);
    const filter = {
      organizationId: request.organization.id,
      subjects: { types: [subject.type], ids: [subject.id] },
    };
    const found = await listAuditPage(services.db, filter, cursor);
    const page = splitPage(cursor, found, ({ event }) => event.id);
    const { newer, older } = linkIdPages(path, cursorNames, page);
    return {
      title: `History of ${subject.name}`,
      ...place,
      content: (
        <>
          <h1>History of {subject.name}</h1>
          <AuditEntries entries={page.rows} viewer={request} />
          <CursorPager links={{ Newer: newer, Older: older }} />
        </>
      ),
    };
  });
}
