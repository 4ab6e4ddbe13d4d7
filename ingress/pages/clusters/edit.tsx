import { deleteCluster, updateCluster } from "../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { listPipelinesOfCluster, type Pipeline } from "../../../shared/pipelines/store.ts";
import { listQueues } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { clusterName, problemsOf, description as validDescription } from "../../../shared/validation.ts";
import type { Bodies } from "../../http/body.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { CsrfField, Field, FormError, isAbout, Select } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { StillUsed } from "../ui/still-used.tsx";
import { clusterOf } from "./show.tsx";

interface Draft {
  name: string;
  description: string;
  defaultQueueId: string;
}

/** GET /organizations/:org/clusters/:cluster/edit */
export function editClusterPage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const cluster = await clusterOf(services, request);
    const { name, description, defaultQueueId } = cluster;
    const draft = { name, description: description ?? "", defaultQueueId: defaultQueueId ?? "" };
    return editForm(services, request, cluster, draft);
  });
}

/** POST /organizations/:org/clusters/:cluster/edit {name, description, default_queue} */
export function saveCluster(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const cluster = await clusterOf(services, request);
    const field = (name: string) => form.get(name) ?? "";
    const draft = {
      name: field("name").trim(),
      description: field("description").trim(),
      defaultQueueId: field("default_queue"),
    };
    const problems = [
      ...problemsOf(clusterName, draft.name, "name"),
      ...problemsOf(validDescription, draft.description, "description"),
    ];
    const change = { ...draft, defaultQueueId: draft.defaultQueueId || null };
    const outcome =
      problems.length > 0
        ? { problem: asSentence(problems) }
        : await tryForm(() => updateCluster(services, request.actor, cluster, change));
    if ("problem" in outcome) return editForm(services, request, cluster, draft, outcome.problem);
    return withNotice(pathOf(request, cluster), "cluster_saved");
  });
}

/** GET /organizations/:org/clusters/:cluster/delete */
export function deleteClusterPage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    return askToDelete(request, await clusterOf(services, request));
  });
}

/** POST /organizations/:org/clusters/:cluster/delete */
export function removeCluster(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request) => {
    const cluster = await clusterOf(services, request);
    const outcome = await tryForm(() => deleteCluster(services, request.actor, cluster));
    if ("problem" in outcome) {
      const pipelines = await listPipelinesOfCluster(services.db, cluster.id);
      return askToDelete(request, cluster, pipelines, outcome.problem);
    }
    return withNotice(pathTo(patterns.clustersPage, { org: request.organization.slug }), "cluster_deleted");
  });
}

function askToDelete(
  request: MemberRequest,
  cluster: Cluster,
  pipelines: Pipeline[] = [],
  problem?: string,
): PageContent {
  return confirmation(request.visitor, {
    title: `Delete the cluster ${cluster.name}?`,
    within: { organization: request.organization, section: "clusters" },
    text: "Its queues go with it. This cannot be undone.",
    button: "Delete",
    path: pathTo(patterns.deleteClusterPage, { org: request.organization.slug, cluster: cluster.id }),
    back: pathOf(request, cluster),
    problem:
      pipelines.length > 0 ? <StillUsed pipelines={pipelines} org={request.organization.slug} /> : problem,
  });
}

function pathOf({ organization }: MemberRequest, { id }: Cluster): string {
  return pathTo(patterns.clusterPage, { org: organization.slug, cluster: id });
}

async function editForm(
  { db }: Services,
  request: MemberRequest,
  cluster: Cluster,
  draft: Draft,
  problem?: string,
): Promise<PageContent> {
  const { organization, visitor } = request;
  const queues = await listQueues(db, cluster.id);
  const wrong = { name: isAbout(problem, "Name"), description: isAbout(problem, "Description") };
  return {
    title: `Edit ${cluster.name}`,
    status: problem ? 422 : 200,
    within: { organization, section: "clusters" },
    content: (
      <div class="narrow">
        <h1>Edit {cluster.name}</h1>
        <form
          method="post"
          action={pathTo(patterns.editClusterPage, { org: organization.slug, cluster: cluster.id })}
        >
          <CsrfField visitor={visitor} />
          {problem && <FormError inField={wrong.name || wrong.description}>{problem}</FormError>}
          <Field label="Name" name="name" value={draft.name} maxLength={100} required isWrong={wrong.name} />
          <Field
            label="Description"
            name="description"
            value={draft.description}
            maxLength={2000}
            isWrong={wrong.description}
          />
          <Select
            label="Default queue"
            name="default_queue"
            value={draft.defaultQueueId}
            options={[["", "none"], ...queues.map(({ id, key }) => [id, key] as const)]}
          />
          <p class="actions">
            <button type="submit">Save</button>
            <a class="button secondary" href={pathOf(request, cluster)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
