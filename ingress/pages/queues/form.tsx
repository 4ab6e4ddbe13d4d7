import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { maxImageRefLength } from "../../../shared/queues/hosted.ts";
import { newQueue, queueMembers } from "../../../shared/queues/input.ts";
import type { NewQueue, QueueChange } from "../../../shared/queues/queues.ts";
import { findShape, type InstanceShape, shapeProblems, shapes } from "../../../shared/queues/shapes.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { description, maxLengthOf, queueKey } from "../../../shared/validation.ts";
import { Field, Select } from "../ui/form.tsx";
import { type FieldNames, type FormProblems, requireValid } from "../ui/problems.ts";
import { affinityWords, machineInWords, sizeInWords } from "./words.ts";

export interface QueueDraft {
  key: string;
  description: string;
  /** Empty: self-hosted. */
  shape: string;
  affinity: string;
  /** Undefined: the form has no such field. */
  image: string | undefined;
}

interface FieldsProps {
  draft: QueueDraft;
  organization: Organization;
  problems: FormProblems | undefined;
}

/** Selects offer valid choices only, so they are never marked. */
export const queueFields: FieldNames = {
  key: "key",
  description: "description",
  "hostedAgents.agentImageRef": "image",
};

const changeSchema = z.object(queueMembers);
const newSchema = newQueue.extend({
  shape: z
    .string()
    .refine((name) => name === "" || findShape(name), "Instance shape is not a valid instance shape"),
});

export function readQueueDraft(form: URLSearchParams): QueueDraft {
  const field = (name: string) => form.get(name) ?? "";
  return {
    key: field("key").trim(),
    description: field("description").trim(),
    shape: field("shape"),
    affinity: field("affinity"),
    image: form.get("image")?.trim(),
  };
}

export function draftOfQueue(queue: Queue): QueueDraft {
  return {
    key: queue.key,
    description: queue.description ?? "",
    shape: queue.instanceShape ?? "",
    affinity: queue.retryAgentAffinity,
    image: queue.agentImageRef ?? "",
  };
}

/** @throws Refusal 422 */
export function toNewQueue(draft: QueueDraft): NewQueue {
  requireValid(newSchema, draft);
  const { key, description, shape, affinity } = draft;
  return {
    key,
    description,
    instanceShape: findShape(shape)?.name,
    retryAgentAffinity: affinity === "prefer-different" ? affinity : "prefer-warmest",
  };
}

/** @throws Refusal 422 */
export function toQueueChange(draft: QueueDraft, present: Queue): QueueChange {
  requireValid(changeSchema, draft);
  const { description, shape, affinity, image } = draft;
  return {
    description,
    retryAgentAffinity: affinity,
    ...(present.instanceShape === null
      ? {}
      : { hosted: { instanceShape: shape, ...(image === undefined ? {} : { agentImageRef: image }) } }),
  };
}

export function NewQueueFields({ draft, organization, problems }: FieldsProps) {
  return (
    <>
      <Field
        label="Key"
        name="key"
        value={draft.key}
        maxLength={maxLengthOf(queueKey)}
        required
        problems={problems}
        hint="Letters, numbers, hyphens, underscores and colons. Steps and agents name it; it cannot be changed."
      />
      <DescriptionField value={draft.description} problems={problems} />
      <AgentsField value={draft.shape} organization={organization} />
      <div class="self-hosted">
        <AffinityField value={draft.affinity} />
      </div>
    </>
  );
}

export function QueueFields({ draft, organization, problems, queue }: FieldsProps & { queue: Queue }) {
  const shape = queue.instanceShape === null ? undefined : findShape(queue.instanceShape);
  const hasImage = shape?.machineType === "linux" && organization.features.includes("custom_agent_images");
  return (
    <>
      <DescriptionField value={draft.description} problems={problems} />
      {shape ? (
        <SizeField value={draft.shape} present={shape} organization={organization} />
      ) : (
        <AffinityField value={draft.affinity} />
      )}
      {hasImage && (
        <Field
          label="Agent image"
          name="image"
          value={draft.image ?? ""}
          maxLength={maxImageRefLength}
          problems={problems}
          hint="Address of a public image; empty for the default one."
        />
      )}
    </>
  );
}

function DescriptionField({ value, problems }: { value: string; problems: FormProblems | undefined }) {
  return (
    <Field
      label="Description"
      name="description"
      value={value}
      maxLength={maxLengthOf(description)}
      problems={problems}
    />
  );
}

function AgentsField({ value, organization }: { value: string; organization: Organization }) {
  const available = shapes.filter(({ name }) => shapeProblems(name, organization).length === 0);
  return (
    <Select
      label="Agents"
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
      name="shape"
      value={value}
      options={sizes.map((shape) => [shape.name, sizeInWords(shape)] as const)}
    />
  );
}

function AffinityField({ value }: { value: string }) {
  return (
    <Select label="Retries prefer" name="affinity" value={value} options={Object.entries(affinityWords)} />
  );
}
