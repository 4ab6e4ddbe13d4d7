import { createHash } from "node:crypto";

export interface ApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, unknown>; headers: Record<string, unknown> };
}

interface DescribedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  security?: unknown[];
  parameters: { name: string; description?: string }[];
  responses: Record<string, { headers: Record<string, unknown> }>;
}

/** Selects queues, triggers, deliveries and what jobs leave, with their schemas. */
export function clientDocument(document: ApiDocument) {
  const paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) =>
      /^\/v2\/.*\/(queues|triggers|secrets|annotations|artifacts)/.test(path),
    ),
  );
  const { headers } = document.components;
  const { Queue, PipelineTrigger, PipelineTriggerDelivery, BulkRebuild } = document.components.schemas;
  const { Secret, Annotation, Artifact, User, Problem } = document.components.schemas;
  const schemas = {
    Queue,
    PipelineTrigger,
    PipelineTriggerDelivery,
    BulkRebuild,
    Secret,
    Annotation,
    Artifact,
    User,
    Problem,
  };
  const info = { title: "Queues, triggers, and what jobs leave", version: "2" };
  const selected = { openapi: "3.1.0", info, paths, components: { schemas, headers } };
  return JSON.parse(JSON.stringify(selected, withoutExamples));
}

/** Types do not depend on examples. */
function withoutExamples(name: string, value: unknown): unknown {
  return name === "example" || name === "examples" ? undefined : value;
}

export function fingerprint(document: ApiDocument): string {
  return createHash("sha256")
    .update(JSON.stringify(clientDocument(document)))
    .digest("hex");
}
