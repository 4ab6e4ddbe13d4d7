import { createCluster } from "../../../shared/clusters/clusters.ts";
import { type Cluster, countClusters, listClusters } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { clusterName, problemsOf, description as validDescription } from "../../../shared/validation.ts";
import type { Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { readPageWithin } from "../../http/number-pager.ts";
import { CsrfField, Field, FormError, isAbout } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { asSentence, tryForm } from "../ui/problems.ts";
import { clusterTitle } from "./show.tsx";

const perPage = 30;
/** What a new cluster may be described with. */
/** GET /organizations/:org/clusters */
export function clustersPage(services: Services) {
  return memberPage(services, (request) => show(services, request));
}

/** POST /organizations/:org/clusters {name, description} */
export function addCluster(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const field = (name: string) => (form.get(name) ?? "").trim();
    const draft = { name: field("name"), description: field("description") };
    const problems = [
      ...problemsOf(clusterName, draft.name, "name"),
      ...problemsOf(validDescription, draft.description, "description"),
    ];
    const outcome =
      problems.length > 0
        ? { problem: asSentence(problems) }
        : await tryForm(() => createCluster(services, request.actor, draft));
    if ("problem" in outcome) return show(services, request, { ...draft, problem: outcome.problem });
    const parameters = { org: request.organization.slug, cluster: outcome.done.id };
    return withNotice(pathTo(patterns.clusterPage, parameters), "cluster_created");
  });
}

interface Draft {
  name: string;
  description: string;
  problem: string;
}

async function show({ db }: Services, request: MemberRequest, draft?: Draft): Promise<PageContent> {
  const { organization, role, visitor } = request;
  const total = await countClusters(db, organization.id);
  const page = readPageWithin(request.event, total, perPage);
  const clusters = await listClusters(db, organization.id, page);
  const path = pathTo(patterns.clustersPage, { org: organization.slug });
  return {
    title: "Clusters",
    status: draft ? 422 : 200,
    within: { organization, section: "clusters" },
    content: (
      <>
        <h1>Clusters</h1>
        <p>A cluster is a group of queues. Pipelines run their jobs on the queues of one cluster.</p>
        {clusters.length === 0 ? (
          <p class="empty">
            There is no cluster yet.{role !== "admin" && " Admins of the organization can create one."}
          </p>
        ) : (
          <ul class="entries">
            {clusters.map((cluster) => (
              <Entry key={cluster.id} cluster={cluster} org={organization.slug} />
            ))}
          </ul>
        )}
        <NumberPager page={page} total={total} path={path} />
        {role === "admin" && <NewCluster visitor={visitor} path={path} draft={draft} />}
      </>
    ),
  };
}

function Entry({ cluster, org }: { cluster: Cluster; org: string }) {
  const { queueCount } = cluster;
  return (
    <li class="entry">
      <div>
        <h2>
          <a href={pathTo(patterns.clusterPage, { org, cluster: cluster.id })}>{clusterTitle(cluster)}</a>
        </h2>
        {cluster.description && <p>{cluster.description}</p>}
        <p class="quiet">{queueCount === 1 ? "1 queue" : `${queueCount} queues`}</p>
      </div>
    </li>
  );
}

function NewCluster({ visitor, path, draft }: { visitor: Visitor; path: string; draft?: Draft | undefined }) {
  const wrong = {
    name: isAbout(draft?.problem, "Name"),
    description: isAbout(draft?.problem, "Description"),
  };
  return (
    <section class="card" aria-labelledby="new-cluster">
      <h2 id="new-cluster">New cluster</h2>
      <form method="post" action={path}>
        <CsrfField visitor={visitor} />
        {draft && <FormError inField={wrong.name || wrong.description}>{draft.problem}</FormError>}
        <Field label="Name" name="name" value={draft?.name} maxLength={100} required isWrong={wrong.name} />
        <Field
          label="Description"
          name="description"
          value={draft?.description}
          maxLength={2000}
          isWrong={wrong.description}
        />
        <p class="actions">
          <button type="submit">Create cluster</button>
        </p>
      </form>
    </section>
  );
}
