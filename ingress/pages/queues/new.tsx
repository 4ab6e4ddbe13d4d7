import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { findShape, shapeProblems, shapes } from "../../../shared/queues/shapes.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { problemsOf, queueKey, description as validDescription } from "../../../shared/validation.ts";
import type { Bodies } from "../../http/body.ts";
import { clusterOf } from "../clusters/show.tsx";
import { CsrfField, Field, FormError, isAbout } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { AffinityField, AgentsField } from "./form.tsx";
import { pathOf } from "./load.ts";

interface Draft {
  key: string;
  description: string;
  /** Empty: self-hosted. */
  shape: string;
  affinity: string;
}

/** GET /organizations/:org/clusters/:cluster/queues/new */
export function newQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const cluster = await clusterOf(services, request);
    return show(request, cluster, readDraft(new URLSearchParams()));
  });
}

/** POST there {key, description, shape, affinity} */
export function addQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const cluster = await clusterOf(services, request);
    const draft = readDraft(form);
    const { key, description, shape, affinity } = draft;
    const problems = [
      ...problemsOf(queueKey, key, "key"),
      ...problemsOf(validDescription, description, "description"),
      ...(shape === "" || findShape(shape)
        ? []
        : [{ field: "hostedAgents.instanceShape", message: "Instance shape is not a valid instance shape" }]),
    ];
    const queue = {
      key,
      description,
      instanceShape: findShape(shape)?.name,
      retryAgentAffinity: affinity === "prefer-different" ? affinity : ("prefer-warmest" as const),
    } as const;
    const outcome =
      problems.length > 0
        ? { problem: asSentence(problems) }
        : await tryForm(() => createQueue(services, request.actor, cluster, queue));
    if ("problem" in outcome) return show(request, cluster, draft, outcome.problem);
    return withNotice(pathOf(request, outcome.done), "queue_created");
  });
}

function readDraft(form: URLSearchParams): Draft {
  const field = (name: string) => form.get(name) ?? "";
  return {
    key: field("key").trim(),
    description: field("description").trim(),
    shape: field("shape"),
    affinity: field("affinity"),
  };
}

function show(request: MemberRequest, cluster: Cluster, draft: Draft, problem?: string): PageContent {
  const { organization, visitor } = request;
  const parameters = { org: organization.slug, cluster: cluster.id };
  const wrong = { key: isAbout(problem, "Key"), description: isAbout(problem, "Description") };
  const available = shapes.filter(({ name }) => shapeProblems(name, organization).length === 0);
  return {
    title: "New queue",
    status: problem ? 422 : 200,
    within: { organization, section: "clusters" },
    content: (
      <div class="narrow">
        <h1>New queue in {cluster.name}</h1>
        <form method="post" action={pathTo(patterns.newQueuePage, parameters)}>
          <CsrfField visitor={visitor} />
          {problem && <FormError inField={wrong.key || wrong.description}>{problem}</FormError>}
          <Field
            label="Key"
            name="key"
            value={draft.key}
            maxLength={100}
            required
            isWrong={wrong.key}
            hint="Letters, numbers, hyphens and underscores. Steps and agents name it; it cannot be changed."
          />
          <Field
            label="Description"
            name="description"
            value={draft.description}
            maxLength={2000}
            isWrong={wrong.description}
          />
          <AgentsField value={draft.shape} available={available} />
          <div class="self-hosted">
            <AffinityField value={draft.affinity} />
          </div>
          <p class="actions">
            <button type="submit">Create queue</button>
            <a class="button secondary" href={pathTo(patterns.clusterPage, parameters)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
