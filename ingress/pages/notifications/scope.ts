import { listClusterNames } from "../../../shared/clusters/store.ts";
import { listPipelineIdsBySlug } from "../../../shared/notifications/scope-store.ts";
import type { NotificationService } from "../../../shared/notifications/store.ts";
import { listPipelineNamesById } from "../../../shared/pipelines/store.ts";
import { excerpt, validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxChoices } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import type { ServiceDraft } from "./draft.ts";

/** The clusters that a form offers. */
export async function loadClusters({ db }: Services, { organization }: MemberRequest) {
  return listClusterNames(db, organization.id, maxChoices);
}

/** The pipelines of a service's scope that are still there. */
export async function loadScopePipelines({ db }: Services, { scope, scopeIds }: NotificationService) {
  return scope === "some_projects" ? listPipelineNamesById(db, scopeIds ?? []) : [];
}

/**
 * The ids that a draft names.
 * @throws Refusal 422 for a pipeline that is not there
 */
export async function scopeIdsOf(
  { db }: Services,
  { organization }: MemberRequest,
  { texts, pipelines, clusters }: ServiceDraft,
): Promise<readonly string[]> {
  if (texts.scope === "some_clusters") return clusters;
  if (texts.scope !== "some_projects") return [];
  const slugs = [...new Set(pipelines.split(/[\s,]+/).filter(Boolean))];
  const ids = await listPipelineIdsBySlug(db, organization.id, slugs);
  const unknown = slugs.find((slug) => !ids.has(slug));
  if (unknown !== undefined)
    throw validationFailed({ field: "pipelines", message: `There is no pipeline ${excerpt(unknown)}` });
  return [...ids.values()];
}
