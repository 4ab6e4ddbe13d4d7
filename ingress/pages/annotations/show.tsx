import { requireAnnotation } from "../../../shared/annotations/annotations.ts";
import { readHtml } from "../../../shared/annotations/html.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { excerpt } from "../../../shared/refusal.ts";
import { admitDownload } from "../../http/downloads.ts";
import { loadBuild } from "../address/build.ts";
import { memberPage } from "../ui/member-page.ts";
import { AnnotationBlock } from "./section.tsx";

/** In memory at most: an annotation as HTML, and the page of it. */
const bytesInMemory = 6 * 1024 * 1024;

/** GET …/builds/:number/annotations/:annotation: one that is too large for the page of its build. */
export const annotationPage = memberPage(async (services, request) => {
  const { event, visitor, organization } = request;
  const { build } = await loadBuild(services, request);
  const owner = { buildId: build.id, jobId: null };
  const annotation = await requireAnnotation(services.db, owner, request.parameter("annotation"));
  const holder = `session ${hashToken(visitor.token)}`;
  admitDownload(event, { holder, organizationId: organization.id, bytes: bytesInMemory });
  const html = await readHtml(services, build, annotation.id);
  const title = excerpt(annotation.context);
  return {
    title,
    section: "pipelines",
    hasPictures: html.includes("<img "),
    content: (
      <>
        <h1>{title}</h1>
        <AnnotationBlock annotation={annotation} html={html} />
      </>
    ),
  };
});
