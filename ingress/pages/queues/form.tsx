import type { ComponentChildren } from "preact";
import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { shapeOf, toColumns } from "../../../shared/members/bodies.ts";
import { maxImageRefLength } from "../../../shared/queues/hosted.ts";
import {
  type NewQueue,
  type QueueChange,
  queueChange,
  queueMembers,
} from "../../../shared/queues/members.ts";
import { findShape, type InstanceShape, shapeProblems, shapes } from "../../../shared/queues/shapes.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { type Draft, parseDraft } from "../resources/draft.ts";
import { Field, FoldedFields, Select } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { affinityWords, machineInWords, sizeInWords } from "./words.ts";

/** Null: self-hosted. */
const shape = z
  .string()
  .nullish()
  .refine((name) => !name || findShape(name), "Instance shape is not a valid instance shape");
const newQueueForm = z
  .object({
    ...(shapeOf(queueMembers, "create") as object),
    hostedAgents: z.object({ instanceShape: shape }).optional(),
  })
  .transform((given) => toColumns(queueMembers, given) as unknown as NewQueue);

/** @throws Refusal 422 */
export function toNewQueue(draft: Draft): NewQueue {
  return parseDraft(newQueueForm, queueMembers, draft);
}

/** @throws Refusal 422 */
export function toQueueChange(draft: Draft, present: Queue): QueueChange {
  const { instanceShape, agentImageRef, retryAgentAffinity: _, ...ofHosted } = draft;
  if (present.instanceShape === null) return parseDraft(queueChange, queueMembers, draft);
  return { ...parseDraft(queueChange, queueMembers, ofHosted), hosted: { instanceShape, agentImageRef } };
}

/** Fields of a new queue: its agents decide who takes its retries. Most queues have the usual ones. */
export function newQueueFields(draft: Draft, organization: Organization): Record<string, ComponentChildren> {
  const { instanceShape = "", retryAgentAffinity = "" } = draft;
  const isUnusual = instanceShape !== "" || retryAgentAffinity === "prefer-different";
  return {
    retryAgentAffinity: null,
    instanceShape: (
      <FoldedFields id="others" title="More settings: hosted agents, retries" names={[]} isOpen={isUnusual}>
        <AgentsField value={instanceShape} organization={organization} />
        <div class="self-hosted">
          <AffinityField value={retryAgentAffinity} />
        </div>
      </FoldedFields>
    ),
  };
}

/** Fields of a present queue, which stays self-hosted or hosted. */
export function queueFields(
  queue: Queue,
  {
    draft,
    problems,
    organization,
  }: { draft: Draft; problems: FormProblems | undefined; organization: Organization },
): Record<string, ComponentChildren> {
  const present = queue.instanceShape === null ? undefined : findShape(queue.instanceShape);
  const { label, hint } = queueMembers.agentImageRef.field;
  const hasImage = present?.machineType === "linux" && organization.features.includes("custom_agent_images");
  return {
    retryAgentAffinity: present ? null : <AffinityField value={draft.retryAgentAffinity ?? ""} />,
    instanceShape: present && (
      <SizeField value={draft.instanceShape ?? ""} present={present} organization={organization} />
    ),
    agentImageRef: hasImage && (
      <Field
        label={label}
        api={queueMembers.agentImageRef.name}
        hint={hint}
        problems={problems}
        name="image"
        value={draft.agentImageRef ?? ""}
        maxLength={maxImageRefLength}
      />
    ),
  };
}

function AgentsField({ value, organization }: { value: string; organization: Organization }) {
  const available = shapes.filter(({ name }) => shapeProblems(name, organization).length === 0);
  return (
    <Select
      label="Agents"
      api={queueMembers.instanceShape.name}
      name="shape"
      value={value}
      options={[["", "Self-hosted: your own agents"]]}
      groups={[...Map.groupBy(available, machineInWords)].map(([machine, ofMachine]) => ({
        label: `Hosted on ${machine}`,
        options: ofMachine.map((shape) => [shape.name, `${machine} ${sizeInWords(shape)}`]),
      }))}
    />
  );
}

/** The kind of machine stays. */
function SizeField({
  value,
  present,
  organization,
}: {
  value: string;
  present: InstanceShape;
  organization: Organization;
}) {
  const sizes = shapes.filter(
    ({ name, machineType, architecture }) =>
      machineType === present.machineType &&
      architecture === present.architecture &&
      (name === present.name || shapeProblems(name, organization).length === 0),
  );
  return (
    <Select
      label={`Size, ${machineInWords(present)}`}
      api={queueMembers.instanceShape.name}
      name="shape"
      value={value}
      options={sizes.map((shape) => [shape.name, sizeInWords(shape)] as const)}
    />
  );
}

function AffinityField({ value }: { value: string }) {
  return (
    <Select
      label="Retries prefer"
      api="retry_agent_affinity"
      name="affinity"
      value={value}
      options={Object.entries(affinityWords)}
    />
  );
}
