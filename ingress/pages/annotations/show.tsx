import { HTTPResponse } from "h3";
import { requireAnnotation } from "../../../shared/annotations/annotations.ts";
import { readHtml } from "../../../shared/annotations/html.ts";
import { findBody } from "../../../shared/annotations/store.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { excerpt, notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { admitDownload } from "../../http/downloads.ts";
import { loadBuild } from "../address/build.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { AnnotationBlock } from "./section.tsx";

/** In memory at most: an annotation as HTML, and the page of it. */
const bytesInMemory = 6 * 1024 * 1024;

/** GET …/builds/:number/annotations/:annotation: one that is too large for the page of its build. */
export const annotationPage = memberPage(async (services, request) => {
  const { build, annotation } = await loadAnnotation(services, request);
  const html = await readHtml(services, build, annotation.id);
  const title = excerpt(annotation.context);
  const { organization, parameter } = request;
  const address = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  const file = pathTo(patterns.annotationBodyPage, { ...address, annotation: annotation.id });
  return {
    title,
    section: "pipelines",
    hasPictures: html.includes("<img "),
    content: (
      <>
        <div class="heading">
          <h1>{title}</h1>
          <a class="button secondary" href={file}>
            Text
          </a>
        </div>
        {/* The headings of authors stand below one of this level on the page of the build, too. */}
        <h2 class="hidden">Annotation</h2>
        <AnnotationBlock annotation={annotation} html={html} />
      </>
    ),
  };
});

/** GET …/annotations/:annotation/body.txt: the body as its author wrote it, all of it. */
export const annotationBodyFile = memberPage(async (services, request) => {
  const { annotation } = await loadAnnotation(services, request);
  const body = await findBody(services.db, annotation.id);
  if (body === undefined) throw notFound("annotation");
  return new HTTPResponse(body, {
    headers: {
      "content-type": "text/plain;charset=UTF-8",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "private, no-store",
    },
  });
});

async function loadAnnotation(services: Services, request: MemberRequest) {
  const { event, visitor, organization } = request;
  const { build } = await loadBuild(services, request);
  const owner = { buildId: build.id, jobId: null };
  const annotation = await requireAnnotation(services.db, owner, request.parameter("annotation"));
  const holder = `session ${hashToken(visitor.token)}`;
  admitDownload(event, { holder, organizationId: organization.id, bytes: bytesInMemory });
  return { build, annotation };
}
