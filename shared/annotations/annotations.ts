import { z } from "zod";
import type { Build } from "../builds/rows/build-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import type { Topic } from "../redis/events.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { isStorable, toStorable } from "../validation.ts";
import { type AnnotationScope, annotationStyles } from "../vocabulary.ts";
import { deleteHtmlOfBuild } from "./html-store.ts";
import {
  type Annotation,
  type AnnotationOwner,
  changeAnnotation,
  deleteAnnotation,
  findAnnotation,
  findAnnotationOfBuild,
  insertAnnotation,
  measureAnnotations,
} from "./store.ts";

/** Of UTF-8, as it is stored. */
export const maxBodyBytes = 1024 * 1024;
/** A request may have four times as much: JSON escapes what HTML is made of. */
export const maxRequestBytes = 4 * maxBodyBytes;
/** Postgres refuses index keys over 2,704 bytes. */
const maxContextBytes = 1024;
const maxTotal = stored.annotations.max;
export const defaultContext = "default";
const defaultPriority = 3;

const styleError = `style must be one of ${annotationStyles.join(", ")}`;
const priorityError = "priority must be a whole number from 1 to 10";

/** The members of a request that annotates. Agents send empty text for what is absent. */
export const annotating = z.object({
  body: z
    .string({ error: "body must be text" })
    .transform((text) => toStorable(text) || undefined)
    .nullish()
    .meta({ description: "Markdown, and some HTML. Absent: an annotation that exists keeps its body" }),
  context: z
    .string({ error: "context must be text" })
    .refine((context) => Buffer.byteLength(context) <= maxContextBytes, "context is larger than 1,024 bytes")
    .refine(isStorable, "context must be text without NUL")
    .transform((context) => context || defaultContext)
    .nullish()
    .meta({ description: `Names the annotation: the same context changes it. Default: ${defaultContext}` }),
  style: z
    .enum(["", ...annotationStyles], { error: styleError })
    .transform((style) => style || undefined)
    .nullish()
    .meta({ description: "Absent: it stays, and a new annotation is plain" }),
  priority: z
    .int({ error: priorityError })
    .min(0, priorityError)
    .max(10, priorityError)
    .transform((priority) => priority || undefined)
    .nullish()
    .meta({
      description: `10 is on top. Absent or 0: it stays, and is ${defaultPriority} of a new annotation`,
    }),
  append: z
    .boolean({ error: "append must be true or false" })
    .nullish()
    .meta({ description: "Adds to the body of an annotation that exists, with nothing between" }),
});

export type Annotating = z.output<typeof annotating>;

/**
 * Annotates a build, or one of its jobs: makes the annotation of a context, or changes it.
 * @param changeBuild runs a change in a transaction that has locked the build, and checked that the caller may change it
 * @returns its id
 * @throws Refusal 422
 */
export async function annotate(
  { clock, events }: Services,
  { jobId }: Pick<AnnotationOwner, "jobId">,
  given: Annotating,
  changeBuild: (change: (tx: Tx, build: Build) => Promise<Stored>) => Promise<Stored>,
): Promise<string> {
  const now = clock.now();
  const { id, build } = await changeBuild(async (tx, build) => ({
    build,
    id: await putAnnotation(tx, { buildId: build.id, jobId }, given, now),
  }));
  events.publish(annotationTopics({ buildId: build.id, jobId }));
  return id;
}

interface Stored {
  id: string;
  build: Build;
}

/** Call with the build locked: jobs append at once. */
async function putAnnotation(
  tx: Tx,
  owner: AnnotationOwner,
  { body, style, priority, append, ...rest }: Annotating,
  now: Date,
): Promise<string> {
  const context = rest.context ?? defaultContext;
  const key = { scopeId: scopeIdOf(owner), context };
  const known = await findAnnotation(tx, key);
  if (body) await requireRoom(tx, owner, { known, added: Buffer.byteLength(body), isAdded: !!append });
  const common = { style: style ?? undefined, priority: priority ?? undefined };
  if (known) {
    // The time tells apart the bodies that a reader renders.
    const updatedAt = new Date(Math.max(now.getTime(), known.updatedAt.getTime() + 1));
    const text = body ? { text: body, isAdded: !!append } : undefined;
    await changeAnnotation(tx, known.id, { ...common, body: text, updatedAt });
    return known.id;
  }
  if (!body) throw new Refusal(422, "Body can't be blank");
  const id = newId(now);
  await insertAnnotation(tx, {
    id,
    ...owner,
    ...key,
    body,
    scope: scopeOf(owner),
    style: style ?? null,
    priority: priority ?? defaultPriority,
    createdAt: now,
    updatedAt: now,
  });
  return id;
}

/** HTML gives way to bodies: whether a job may annotate does not depend on readers. @throws Refusal 422 */
async function requireRoom(
  tx: Tx,
  { buildId }: AnnotationOwner,
  {
    known,
    added,
    isAdded,
  }: { known: (Annotation & { bytes: number }) | undefined; added: number; isAdded: boolean },
): Promise<void> {
  const bytes = added + (known && isAdded ? known.bytes : 0);
  if (bytes > maxBodyBytes) throw new Refusal(422, "Body would be larger than 1 MB");
  const others = await measureAnnotations(tx, buildId, known?.id);
  if (others.annotations >= maxTotal.annotations || others.bytes + bytes > maxTotal.bytes)
    throw new Refusal(
      422,
      "The build would have more than 500 annotations or 8 MB of them: use the same context again, or remove some",
    );
  if (others.bytes + others.htmlBytes + bytes > maxTotal.bytes) await deleteHtmlOfBuild(tx, buildId);
}

/**
 * Removes an annotation by its context.
 * @throws Refusal 404
 */
export async function removeAnnotation(
  { events }: Services,
  owner: AnnotationOwner,
  context: string,
  changeBuild: (change: (tx: Tx) => Promise<boolean>) => Promise<boolean>,
): Promise<void> {
  const key = { scopeId: scopeIdOf(owner), context: context || defaultContext };
  const isStored = isStorable(context);
  const isRemoved = isStored && (await changeBuild((tx) => deleteAnnotation(tx, owner.buildId, key)));
  if (!isRemoved) throw notFound("annotation");
  events.publish(annotationTopics(owner));
}

/** @throws Refusal 404 */
export async function deleteAnnotationById({ db, events }: Services, annotation: Annotation): Promise<void> {
  const { id, buildId } = annotation;
  if (!(await db.transaction((tx) => deleteAnnotation(tx, buildId, { id })))) throw notFound("annotation");
  events.publish(annotationTopics(annotation));
}

/**
 * An annotation of a build, or of one of its jobs.
 * @param owner its job is null for those of the build and of all of its jobs
 * @throws Refusal 404
 */
export async function requireAnnotation(
  db: Db,
  { buildId, jobId }: AnnotationOwner,
  id: string,
): Promise<Annotation> {
  const found = isId(id) ? await findAnnotationOfBuild(db, buildId, id) : undefined;
  if (!found || (jobId !== null && found.jobId !== jobId)) throw notFound("annotation");
  return found;
}

/** Pages of builds and jobs follow the topic of the build. */
function annotationTopics({ buildId }: AnnotationOwner): Topic[] {
  return [`build:${buildId}`];
}

function scopeOf({ jobId }: Pick<AnnotationOwner, "jobId">): AnnotationScope {
  return jobId === null ? "build" : "job";
}

function scopeIdOf({ buildId, jobId }: AnnotationOwner): string {
  return jobId ?? buildId;
}
