import type { H3Event } from "h3";
import { z } from "zod";
import {
  annotating,
  deleteAnnotationById,
  maxRequestBytes,
  requireAnnotation,
} from "../../../shared/annotations/annotations.ts";
import { annotateByHand } from "../../../shared/annotations/by-hand.ts";
import { type AnnotationOwner, listAnnotations } from "../../../shared/annotations/store.ts";
import { type Build, findBuildOfJob } from "../../../shared/builds/rows/build-store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readPage } from "../../http/number-pager.ts";
import { answerJson, inBrackets } from "../../http/transfers/json-stream.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { holderOf } from "../holder.ts";
import { atBothAddresses, findBuildOfCall, type JobCall } from "../jobs/address.ts";
import { linkPages, pageQuery } from "../json/list.ts";
import { readQuery } from "../query-reader.ts";
import { annotationSchema, writeAnnotation, writeAnnotations } from "./write.ts";

const tag = "Builds";
const reading = { tag, scope: "read_builds" as const, methods: ["GET"] as ["GET"] };
const writing = { tag, scope: "write_builds" as const };
const page = {
  status: 200,
  schema: z.array(annotationSchema),
  description: "A page of annotations, the oldest first",
} as const;
const made = { status: 201, schema: annotationSchema, description: "The annotation" } as const;
const gone = { status: 204, description: "The annotation is deleted" } as const;
const body = { schema: annotating, maxBytes: maxRequestBytes };
const refusals = {
  422: ["Body can't be blank, or would be larger than 1 MB, or the build would have too many annotations"],
};
const omitBody = z.boolean().optional().meta({ default: false, description: "true leaves out `body_html`" });
const scopes = ["build", "job", "all"] as const;
const scope = z
  .enum(scopes)
  .optional()
  .meta({ default: "build", description: "Annotations of the build itself, those of its jobs, or all" });

type Scope = (typeof scopes)[number];
type OwnerOf = (call: JobCall) => Promise<AnnotationOwner & { build: Build }>;

export function annotationOperations(services: Services): Operation[] {
  const { db, config } = services;

  const ofBuild: OwnerOf = async (call) => {
    const { build } = await findBuildOfCall(services, call);
    return { build, buildId: build.id, jobId: null };
  };
  const ofJob: OwnerOf = async (call) => {
    const { build, buildId } = await ofBuild(call);
    const { organizationId } = build;
    const jobId = call.parameter("job");
    const found = isId(jobId) ? await findBuildOfJob(db, { organizationId, jobId }) : undefined;
    if (found?.id !== buildId) throw notFound("job");
    return { build, buildId, jobId };
  };

  const list = (ownerOf: OwnerOf, defaultScope: Scope) => async (call: Call<unknown>) => {
    const { event, caller } = call;
    const { build, buildId, jobId } = await ownerOf(call);
    const { scope, omitsBody } = readList(event, defaultScope);
    const wanted = readPage(event);
    const filter = { buildId, jobId: jobId ?? undefined, scope: scope === "all" ? undefined : scope };
    const { rows, ...around } = await listAnnotations(db, filter, wanted);
    linkPages(event, { ...around, page: wanted }, config.baseUrl);
    const parts = writeAnnotations({ services, build, omitsBody }, rows);
    return answerJson(event, holderOf(caller), inBrackets(parts));
  };
  const create = (ownerOf: OwnerOf) => async (call: Call<z.output<typeof annotating>>) => {
    const { build, ...owner } = await ownerOf(call);
    const id = await annotateByHand(services, owner, await call.readBody());
    const annotation = await requireAnnotation(db, owner, id);
    const parts = writeAnnotation({ services, build }, annotation);
    return answerJson(call.event, holderOf(call.caller), parts, { status: 201, isOfChange: true });
  };
  const remove = (ownerOf: OwnerOf) => async (call: Call<unknown>) => {
    const { build: _, ...owner } = await ownerOf(call);
    const annotation = await requireAnnotation(db, owner, call.parameter("annotation"));
    await deleteAnnotationById(services, annotation);
  };

  return [
    operation({
      ...reading,
      path: patterns.annotations,
      id: "listAnnotations",
      summary: "The annotations of a build",
      query: { ...pageQuery, scope, omit_body: omitBody },
      success: page,
      refusals: { 422: ["Validation failed: …"] },
      run: list(ofBuild, "build"),
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.annotations,
      id: "createAnnotation",
      summary: "Annotate a build; the same context changes its annotation",
      body,
      success: made,
      refusals,
      run: create(ofBuild),
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.annotation,
      id: "deleteAnnotation",
      summary: "Delete an annotation of a build or its jobs",
      success: gone,
      run: remove(ofBuild),
    }),
    ...atBothAddresses([patterns.annotationsOfJob, patterns.annotationsOfJobById], {
      ...reading,
      id: "listAnnotationsOfJob",
      summary: "The annotations of a job",
      query: { ...pageQuery, omit_body: omitBody },
      success: page,
      refusals: { 422: ["Validation failed: …"] },
      run: list(ofJob, "job"),
    }),
    ...atBothAddresses([patterns.annotationsOfJob, patterns.annotationsOfJobById], {
      ...writing,
      methods: ["POST"],
      id: "createAnnotationOfJob",
      summary: "Annotate a job; the same context changes its annotation",
      body,
      success: made,
      refusals,
      run: create(ofJob),
    }),
    ...atBothAddresses([patterns.annotationOfJob, patterns.annotationOfJobById], {
      ...writing,
      methods: ["DELETE"],
      id: "deleteAnnotationOfJob",
      summary: "Delete an annotation of a job",
      success: gone,
      run: remove(ofJob),
    }),
  ];
}

/** @throws Refusal 422 */
function readList(event: H3Event, defaultScope: Scope) {
  return readQuery(event, (given) => {
    const named = given.text("scope") ?? defaultScope;
    const scope = scopes.find((each) => each === named);
    if (!scope) given.problems.push({ field: "scope", message: `scope must be one of ${scopes.join(", ")}` });
    return { scope, omitsBody: given.boolean("omit_body") };
  });
}
