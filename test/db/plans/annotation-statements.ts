import * as html from "../../../shared/annotations/html-store.ts";
import * as annotations from "../../../shared/annotations/store.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import { newId } from "../../../shared/ids.ts";

const now = new Date(Date.UTC(2026, 0, 1, 1));
const id = newId(now);
const page = { limit: 30, offset: 0 };

/** The statements of annotations. */
export const annotationStatements: Record<string, (db: Db & Tx) => unknown> = {
  "an annotation by its context": (db) => annotations.findAnnotation(db, { scopeId: id, context: "c" }),
  "the size of a build's annotations": (db) => annotations.measureAnnotations(db, id, id),
  "a changed annotation": (db) =>
    annotations.changeAnnotation(db, id, { body: { text: "a", isAdded: true }, updatedAt: now }),
  "a deleted annotation": (db) => annotations.deleteAnnotation(db, id, { scopeId: id, context: "c" }),
  "an annotation of a build": (db) => annotations.findAnnotationOfBuild(db, id, id),
  "annotations of a build": (db) => annotations.listAnnotations(db, { buildId: id, scope: "build" }, page),
  "annotations of a job": (db) => annotations.listAnnotations(db, { buildId: id, jobId: id }, page),
  "annotations of a build's page": (db) =>
    annotations.listAnnotationsForPage(db, { buildId: id, jobId: null }),
  "annotations of a job's page": (db) => annotations.listAnnotationsForPage(db, { buildId: id, jobId: id }),
  "the body of an annotation": (db) => annotations.findBody(db, id),
  "the text of an annotation": (db) => html.findText(db, id),
  "the HTML of an annotation": (db) =>
    html.setHtmlIfUnchanged(db, { id, buildId: id, updatedAt: now }, { html: "h", maxBytes: 8 }),
  "the HTML of a build's annotations": (db) => html.deleteHtmlOfBuild(db, id),
  "artifacts of some paths": (db) => annotations.listArtifactsOfPaths(db, id, ["a", "b"]),
};
