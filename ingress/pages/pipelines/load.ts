import { listLastBuilds } from "../../../shared/builds/rows/build-store.ts";
import { type ClusterName, findCluster, listClusterNames } from "../../../shared/clusters/store.ts";
import { isId } from "../../../shared/ids.ts";
import { listStarredPipelines } from "../../../shared/pipelines/stars/store.ts";
import { findArchivedPipeline, listPipelineNames } from "../../../shared/pipelines/store.ts";
import { listQueueKeys } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { maxChoices } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

const perPage = 30;

/** The clusters and queues that a form offers. @param chosenId the present cluster of the form, always offered */
export async function loadChoices(
  { db }: Services,
  { organization }: MemberRequest,
  chosenId: string,
): Promise<{ clusters: ClusterName[]; queues: string[] }> {
  const first = await listClusterNames(db, organization.id, maxChoices);
  const isOffered = first.some(({ id }) => id === chosenId);
  const chosen = !isOffered && isId(chosenId) ? await findCluster(db, organization.id, chosenId) : undefined;
  const queues = isOffered || chosen ? await listQueueKeys(db, chosenId, maxChoices) : [];
  return { clusters: chosen ? [...first, chosen] : first, queues: queues.map(({ key }) => key) };
}

/**
 * Loads a page of the organization's pipelines, or of its archived pipelines, with the last build of each. The first page
 * begins with the pipelines that the member starred.
 */
export async function loadPipelines({ db }: Services, { organization, user, event }: MemberRequest) {
  const isArchived = event.url.searchParams.get("archived") === "true";
  const member = { organizationId: organization.id, userId: user.id };
  const filter = isArchived
    ? { organizationId: organization.id, isArchived }
    : { organizationId: organization.id, unstarredById: user.id };
  const list = await readWithin(readPageOf(event, perPage), (page) => listPipelineNames(db, filter, page));
  const hasStarred = !isArchived && list.page.number === 1;
  const starred = hasStarred ? await listStarredPipelines(db, member) : [];
  const pipelines = [...starred, ...list.rows];
  const hasArchived = isArchived || (await findArchivedPipeline(db, organization.id)) !== undefined;
  return {
    list,
    pipelines,
    starredIds: new Set(starred.map(({ id }) => id)),
    isArchived,
    hasArchived,
    builds: await listLastBuilds(db, pipelines),
  };
}
