import { z } from "zod";
import { readHtml } from "../../../shared/annotations/html.ts";
import type { Annotation } from "../../../shared/annotations/store.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Services } from "../../../shared/services/services.ts";
import { annotationScopes, annotationStyles } from "../../../shared/vocabulary.ts";

export const annotationSchema = z
  .object({
    id: field.id,
    context: z.string(),
    style: z.enum(annotationStyles).nullable(),
    scope: z.enum(annotationScopes),
    job_id: field.id.nullable().meta({ description: "Of scope `job` only" }),
    priority: z.int(),
    body_html: z
      .string()
      .optional()
      .meta({ description: "Safe HTML. Addresses of artifacts in it are good for an hour" }),
    created_at: field.timestamp,
    updated_at: field.timestamp,
  })
  .meta({ id: "Annotation" });

/** The HTML may have megabytes. */
const pieceLength = 64 * 1024;

export interface WrittenBy {
  services: Services;
  build: Build;
  omitsBody?: boolean | undefined;
}

/** The items of a list, with commas between them, in parts. */
export async function* writeAnnotations(by: WrittenBy, annotations: Annotation[]): AsyncGenerator<string> {
  for (const [index, annotation] of annotations.entries()) {
    if (index > 0) yield ",";
    yield* writeAnnotation(by, annotation);
  }
}

export async function* writeAnnotation(
  { services, build, omitsBody = false }: WrittenBy,
  annotation: Annotation,
): AsyncGenerator<string> {
  const { id, context, style, scope, jobId, priority, createdAt, updatedAt } = annotation;
  const members = { id, context, style, scope, job_id: jobId, priority };
  yield JSON.stringify(members).slice(0, -1);
  if (!omitsBody) {
    const body = await readHtml(services, build, annotation.id);
    yield ',"body_html":"';
    // A pair of surrogates that is cut becomes two escapes, which are the same character.
    for (let at = 0; at < body.length; at += pieceLength)
      yield JSON.stringify(body.slice(at, at + pieceLength)).slice(1, -1);
    yield '"';
  }
  yield `,${JSON.stringify({ created_at: createdAt, updated_at: updatedAt }).slice(1)}`;
}
