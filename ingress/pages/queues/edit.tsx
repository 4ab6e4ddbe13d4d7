import { patterns } from "../../../shared/paths.ts";
import { updateQueue } from "../../../shared/queues/queues.ts";
import { findShape } from "../../../shared/queues/shapes.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { problemsOf, description as validDescription } from "../../../shared/validation.ts";
import type { Bodies } from "../../http/body.ts";
import { CsrfField, Field, FormError, isAbout } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { AffinityField, SizeField } from "./form.tsx";
import { pathOf, queueOf } from "./load.ts";

interface Draft {
  description: string;
  shape: string;
  affinity: string;
  image: string;
}

/** GET …/queues/:queue/edit */
export function editQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { queue } = await queueOf(services, request);
    return show(request, queue, {
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
    const field = (name: string) => form.get(name) ?? "";
    const draft = {
      description: field("description").trim(),
      shape: field("shape"),
      affinity: field("affinity"),
      image: field("image").trim(),
    };
    const problems = problemsOf(validDescription, draft.description, "description");
    const hosted = {
      instanceShape: draft.shape,
      ...(form.has("image") ? { agentImageRef: draft.image } : {}),
    };
    const change = {
      description: draft.description,
      retryAgentAffinity: draft.affinity,
      ...(queue.instanceShape === null ? {} : { hosted }),
    };
    const outcome =
      problems.length > 0
        ? { problem: asSentence(problems) }
        : await tryForm(() => updateQueue(services, request.actor, queue, change));
    if ("problem" in outcome) return show(request, queue, draft, outcome.problem);
    return withNotice(pathOf(request, queue), "queue_saved");
  });
}

function show(request: MemberRequest, queue: Queue, draft: Draft, problem?: string): PageContent {
  const { organization, visitor } = request;
  const present = queue.instanceShape === null ? undefined : findShape(queue.instanceShape);
  const isWrong = isAbout(problem, "Description");
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
          {problem && <FormError inField={isWrong}>{problem}</FormError>}
          <Field
            label="Description"
            name="description"
            value={draft.description}
            maxLength={2000}
            isWrong={isWrong}
          />
          {present ? (
            <SizeField value={draft.shape} present={present} />
          ) : (
            <AffinityField value={draft.affinity} />
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
