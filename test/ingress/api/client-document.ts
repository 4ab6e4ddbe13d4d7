import { createHash } from "node:crypto";

/** What these tests read of an OpenAPI document. */
export interface ApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, unknown>; headers: Record<string, unknown> };
}

interface DescribedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  security?: unknown[];
  parameters: { name: string }[];
  responses: Record<string, { headers: Record<string, unknown> }>;
}

/** Queues, triggers and deliveries, with what they refer to: the part that the client of the tests is made of. */
export function clientDocument(document: ApiDocument) {
  const paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) => /\/(queues|triggers)/.test(path)),
  );
  const { headers } = document.components;
  const { Queue, PipelineTrigger, PipelineTriggerDelivery, User, Problem } = document.components.schemas;
  const schemas = { Queue, PipelineTrigger, PipelineTriggerDelivery, User, Problem };
  const info = { title: "Queues and triggers", version: "2" };
  return { openapi: "3.1.0", info, paths, components: { schemas, headers } };
}

/** A mark of the document that types were made of. */
export function fingerprint(document: ApiDocument): string {
  return createHash("sha256")
    .update(JSON.stringify(clientDocument(document)))
    .digest("hex");
}
