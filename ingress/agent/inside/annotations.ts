import { z } from "zod";
import { attemptOf, changeWhileLeased } from "../../../shared/agents/lease.ts";
import type { LeaseBatches } from "../../../shared/agents/lease-batches.ts";
import {
  annotate,
  annotating,
  maxRequestBytes,
  removeAnnotation,
} from "../../../shared/annotations/annotations.ts";
import type { AnnotationOwner } from "../../../shared/annotations/store.ts";
import { findBuildOfJob } from "../../../shared/builds/rows/build-store.ts";
import type { Tx } from "../../../shared/db/database.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { notFound, Refusal, unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { toStorable } from "../../../shared/validation.ts";
import { type AnnotationScope, annotationScopes, annotationStyles } from "../../../shared/vocabulary.ts";
import type { DataCaller } from "../../auth/callers.ts";
import { pathText } from "../../http/routing.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { flag, reportedText } from "../../operations/reported.ts";
import { answer, done, tag, toBadRequest } from "../answers.ts";
import { refuseReadOnly } from "../read-only.ts";

const scopeError = `scope must be one of ${annotationScopes.join(", ")}`;
const { body: text, context } = annotating.shape;
const scalar = z.union([z.number(), z.boolean()]).transform(String);
/** Wrong styles, priorities and scopes are the defaults. */
const body = annotating.extend({
  body: z.union([text, scalar], "body must be text"),
  context: z
    .union([z.string(), scalar], "context must be text")
    .transform(toStorable)
    .nullish()
    .pipe(context)
    .meta({ description: context.description }),
  style: reportedText(100)
    .transform((given) => annotationStyles.find((style) => style === given))
    .meta({ description: `One of ${annotationStyles.join(", ")}` }),
  priority: z
    .unknown()
    .optional()
    .transform((given) => (Number(given) ? Math.min(Math.max(Math.round(Number(given)), 1), 10) : undefined))
    .meta({ description: "1 to 10" }),
  append: flag.meta({ description: "Adds to the body of an annotation that exists" }),
  scope: reportedText(100)
    .transform((given) => annotationScopes.find((scope) => scope === given))
    .meta({ description: "`job` annotates the job of the path. Default: its build" }),
});

/** The calls of jobs that tell the readers of their build something. */
export function annotationOperations(services: Services, leases: LeaseBatches): Operation[] {
  return [
    operation({
      tag,
      caller: "insideJob",
      translate: toBadRequest,
      methods: ["POST"],
      path: patterns.annotateFromJob,
      id: "annotateFromJob",
      summary: "Annotate the build, or a job of it",
      description:
        "The same context changes the annotation. The body is rendered as CommonMark; HTML that is not allowed is left out.",
      body: { schema: body, refuse: unprocessable, maxBytes: maxRequestBytes },
      success: answer(z.object({ id: field.id })),
      refusals: {
        400: [
          "a member is wrong: Body can't be blank, or would be larger than 1 MB, or the build would have too many annotations",
        ],
        403: ["The token may only read"],
        404: ["No such job of the build"],
      },
      run: async ({ parameter, readBody, ...caller }) => {
        refuseReadOnly(caller);
        await requireJobOfBuild(services, caller, parameter("id"));
        const { scope, ...given } = await readBody();
        const owner = ownerOf(caller, parameter("id"), scope);
        const id = await annotate(services, owner, given, (change) =>
          changeWhileLeased(leases, attemptOfCaller(caller), change),
        );
        return { id };
      },
    }),
    operation({
      tag,
      caller: "insideJob",
      translate: toBadRequest,
      methods: ["DELETE"],
      path: patterns.annotationFromJob,
      id: "removeAnnotationFromJob",
      summary: "Remove an annotation by its context",
      query: { scope: z.enum(annotationScopes).optional().meta({ description: "Default: build" }) },
      success: done,
      refusals: {
        400: ["A scope that does not exist"],
        403: ["The token may only read"],
        404: ["No such job or annotation"],
      },
      run: async ({ event, parameter, ...caller }) => {
        refuseReadOnly(caller);
        const scope = readScope(event.url.searchParams.get("scope"));
        await requireJobOfBuild(services, caller, parameter("id"));
        const owner = ownerOf(caller, parameter("id"), scope);
        const context = pathText(event, "context");
        if (context === undefined) throw notFound("annotation");
        await removeAnnotation(services, owner, context, (change) =>
          changeWhileLeased(leases, attemptOfCaller(caller), (tx: Tx) => change(tx)),
        );
        return {};
      },
    }),
  ];
}

function attemptOfCaller({ build, lease }: DataCaller) {
  if (!lease) throw new Error("The token may only read.");
  return attemptOf(build, lease);
}

function ownerOf({ build }: DataCaller, jobId: string, scope: string | null | undefined): AnnotationOwner {
  return { buildId: build.id, jobId: scope === "job" ? jobId : null };
}

/** @throws Refusal 404 for a job of another build */
async function requireJobOfBuild({ db }: Services, { jobId, build }: DataCaller, id: string): Promise<void> {
  if (id === jobId) return;
  const { organizationId } = build;
  const other = isId(id) ? await findBuildOfJob(db, { organizationId, jobId: id }) : undefined;
  if (other?.id !== build.id) throw notFound("job");
}

function readScope(given: string | null): AnnotationScope {
  const scope = annotationScopes.find((each) => each === (given || "build"));
  if (!scope) throw new Refusal(422, scopeError);
  return scope;
}
