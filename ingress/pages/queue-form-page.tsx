import { pathTo, patterns } from "../../shared/paths.ts";
import { problemsOf, queueDescription, queueKey } from "../../shared/queues/input.ts";
import { createQueue, type NewQueue, updateQueue } from "../../shared/queues/queues.ts";
import { findShape, shapeProblems, shapes } from "../../shared/queues/shapes.ts";
import type { Cluster, Queue } from "../../shared/queues/store.ts";
import type { Services } from "../../shared/services.ts";
import type { Bodies } from "../body.ts";
import { clusterOf, shapeInWords } from "./cluster-page.tsx";
import { CsrfField, Field, FormError, Select } from "./form-parts.tsx";
import {
  adminAction,
  asSentence,
  type MemberRequest,
  memberPage,
  orProblem,
  requireAdmin,
} from "./member-page.ts";
import type { Shown } from "./page.ts";
import { pathOf, queueOf } from "./queue-page.tsx";

interface Draft {
  key: string;
  description: string;
  /** Empty: self-hosted. */
  shape: string;
  affinity: string;
  image: string;
}

const affinities = [
  ["prefer-warmest", "agents that have just finished a job"],
  ["prefer-different", "a different agent"],
] as const;

/** GET /organizations/:org/clusters/:cluster/queues/new */
export function newQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const cluster = await clusterOf(services, request);
    const draft = { key: "", description: "", shape: "", affinity: "prefer-warmest", image: "" };
    return newForm(request, cluster, draft);
  });
}

/** POST there {key, description, shape, affinity} */
export function addQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const cluster = await clusterOf(services, request);
    const draft = readDraft(form);
    const problems = [
      ...problemsOf(queueKey, draft.key),
      ...problemsOf(queueDescription, draft.description),
      ...(draft.shape === "" || findShape(draft.shape)
        ? []
        : ["Instance shape is not a valid instance shape"]),
    ];
    const outcome =
      problems.length > 0
        ? { problem: asSentence(problems) }
        : await orProblem(() => createQueue(services, request.actor, cluster, toNewQueue(draft)));
    if ("problem" in outcome) return newForm(request, cluster, draft, outcome.problem);
    return pathOf(request, outcome.done);
  });
}

/** GET …/queues/:queue/edit */
export function editQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { queue } = await queueOf(services, request);
    return editForm(request, queue, {
      key: queue.key,
      description: queue.description ?? "",
      shape: queue.instanceShape ?? "",
      affinity: queue.retryAgentAffinity,
      image: queue.agentImageRef ?? "",
    });
  });
}

/** POST there {description, shape, affinity, image} */
export function saveQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const { queue } = await queueOf(services, request);
    const draft = { ...readDraft(form), key: queue.key };
    const problems = problemsOf(queueDescription, draft.description);
    const hasImageField = form.has("image");
    const hosted =
      queue.instanceShape === null
        ? undefined
        : { instanceShape: draft.shape, ...(hasImageField ? { agentImageRef: draft.image } : {}) };
    const change = { description: draft.description, retryAgentAffinity: draft.affinity, hosted };
    const outcome =
      problems.length > 0
        ? { problem: asSentence(problems) }
        : await orProblem(() => updateQueue(services, request.actor, queue, change));
    if ("problem" in outcome) return editForm(request, queue, draft, outcome.problem);
    return pathOf(request, queue);
  });
}

function readDraft(form: URLSearchParams): Draft {
  const field = (name: string) => form.get(name) ?? "";
  return {
    key: field("key"),
    description: field("description"),
    shape: field("shape"),
    affinity: form.get("affinity") ?? "prefer-warmest",
    image: field("image"),
  };
}

function toNewQueue({ key, description, shape, affinity }: Draft): NewQueue {
  return {
    key,
    description,
    instanceShape: findShape(shape)?.name,
    retryAgentAffinity: affinity === "prefer-different" ? "prefer-different" : "prefer-warmest",
  };
}

function newForm(request: MemberRequest, cluster: Cluster, draft: Draft, problem?: string): Shown {
  const { organization, visitor } = request;
  const parameters = { org: organization.slug, cluster: cluster.id };
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
          {problem && <FormError>{problem}</FormError>}
          <Field
            label="Key"
            name="key"
            value={draft.key}
            maxLength={100}
            required
            hint="Letters, numbers, hyphens and underscores. Steps and agents name it; it cannot be changed."
          />
          <Field label="Description" name="description" value={draft.description} maxLength={2000} />
          <Select
            label="Agents"
            name="shape"
            value={draft.shape}
            options={[
              ["", "Self-hosted: your own agents"],
              ...available.map(({ name }) => [name, `Hosted: ${shapeInWords(name)}`] as const),
            ]}
          />
          <Select
            label="Retries prefer (self-hosted)"
            name="affinity"
            value={draft.affinity}
            options={affinities}
          />
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

function editForm(request: MemberRequest, queue: Queue, draft: Draft, problem?: string): Shown {
  const { organization, visitor } = request;
  const present = queue.instanceShape === null ? undefined : findShape(queue.instanceShape);
  const sizes = shapes.filter(
    ({ machineType, architecture }) =>
      machineType === present?.machineType && architecture === present.architecture,
  );
  const canHaveImage =
    present?.machineType === "linux" && organization.features.includes("custom_agent_images");
  return {
    title: `Edit ${queue.key}`,
    status: problem ? 422 : 200,
    within: { organization, section: "clusters" },
    content: (
      <div class="narrow">
        <h1>Edit {queue.key}</h1>
        <form method="post" action={pathOf(request, queue, patterns.editQueuePage)}>
          <CsrfField visitor={visitor} />
          {problem && <FormError>{problem}</FormError>}
          <Field label="Description" name="description" value={draft.description} maxLength={2000} />
          {present ? (
            <Select
              label="Size"
              name="shape"
              value={draft.shape}
              options={sizes.map(({ name }) => [name, shapeInWords(name)] as const)}
            />
          ) : (
            <Select label="Retries prefer" name="affinity" value={draft.affinity} options={affinities} />
          )}
          {canHaveImage && (
            <Field
              label="Agent image"
              name="image"
              value={draft.image}
              maxLength={1000}
              hint="Address of a public image; empty for the default one."
            />
          )}
          <p class="actions">
            <button type="submit">Save</button>
            <a class="button secondary" href={pathOf(request, queue)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
