import type { ClusterChange, NewCluster } from "../../../shared/clusters/clusters.ts";
import { newCluster } from "../../../shared/clusters/input.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import type { QueueKey } from "../../../shared/queues/store.ts";
import { clusterName, description, maxLengthOf } from "../../../shared/validation.ts";
import { Field, Select } from "../ui/form.tsx";
import { type FieldNames, type FormProblems, requireValid } from "../ui/problems.ts";

export interface ClusterDraft {
  name: string;
  description: string;
  /** Empty: none. */
  defaultQueueId: string;
}

/** A select offers valid choices only, so it is never marked. */
export const clusterFields: FieldNames = { name: "name", description: "description" };

export function readClusterDraft(form: URLSearchParams): ClusterDraft {
  const field = (name: string) => form.get(name) ?? "";
  return {
    name: field("name").trim(),
    description: field("description").trim(),
    defaultQueueId: field("default_queue"),
  };
}

export function draftOfCluster({ name, description, defaultQueueId }: Cluster): ClusterDraft {
  return { name, description: description ?? "", defaultQueueId: defaultQueueId ?? "" };
}

/** @throws Refusal 422 */
export function toNewCluster({ name, description }: ClusterDraft): NewCluster {
  requireValid(newCluster, { name, description });
  return { name, description };
}

/** @throws Refusal 422 */
export function toClusterChange(draft: ClusterDraft): ClusterChange {
  return { ...toNewCluster(draft), defaultQueueId: draft.defaultQueueId || null };
}

/** The fields of new and present clusters. */
export function ClusterFields({
  draft,
  problems,
}: {
  draft?: ClusterDraft | undefined;
  problems?: FormProblems | undefined;
}) {
  return (
    <>
      <Field
        label="Name"
        name="name"
        value={draft?.name}
        maxLength={maxLengthOf(clusterName)}
        required
        problems={problems}
      />
      <Field
        label="Description"
        name="description"
        value={draft?.description}
        maxLength={maxLengthOf(description)}
        problems={problems}
      />
    </>
  );
}

export function DefaultQueueField({ value, queues }: { value: string; queues: QueueKey[] }) {
  return (
    <Select
      label="Default queue"
      name="default_queue"
      value={value}
      options={[["", "none"], ...queues.map(({ id, key }) => [id, key] as const)]}
    />
  );
}
