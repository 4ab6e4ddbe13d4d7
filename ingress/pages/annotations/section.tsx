import { defaultContext } from "../../../shared/annotations/annotations.ts";
import type { Annotation } from "../../../shared/annotations/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { excerpt } from "../../../shared/refusal.ts";
import type { AnnotationStyle } from "../../../shared/vocabulary.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { lowerHeadings } from "./headings.ts";
import type { ShownAnnotations } from "./load.ts";

const styleWords: Record<AnnotationStyle, string> = {
  success: "Success",
  info: "Info",
  warning: "Warning",
  error: "Error",
};

/** Each is a block of the page, so that a refresh replaces only those that changed. */
export function Annotations({
  annotations: { shown, others },
  request,
}: {
  annotations: ShownAnnotations;
  request: MemberRequest;
}) {
  if (shown.length + others.length === 0) return null;
  return (
    <>
      <h2 id="annotations">Annotations</h2>
      {shown.map(({ annotation, html }, index) => (
        <FoldedAnnotation
          key={annotation.id}
          annotation={annotation}
          html={html}
          isOpen={index < openAnnotations}
        />
      ))}
      {others.length > 0 && <Others annotations={others} request={request} />}
    </>
  );
}

/** The first of a page are open. */
const openAnnotations = 2;
/** About as much as fits the height of one. */
const shortCharacters = 1200;
const shortLines = 8;

/** One of a list: its height has a limit, until the reader asks for all. */
function FoldedAnnotation({
  annotation: { id, context, style },
  html,
  isOpen,
}: {
  annotation: Annotation;
  html: string;
  isOpen: boolean;
}) {
  const isLong =
    html.length > shortCharacters || (html.match(/<(li|tr|p|br|img)\b|\n/g)?.length ?? 0) > shortLines;
  return (
    <article
      data-part=""
      class="annotation"
      id={`annotation-${id}`}
      data-style={style ?? undefined}
      aria-label={context}
    >
      <details id={`fold-${id}`} open={isOpen}>
        <summary class="quiet">
          {style && <strong>{styleWords[style]}</strong>} {!(style && context === defaultContext) && context}
        </summary>
        {isLong && (
          <label class="quiet">
            <input type="checkbox" id={`whole-${id}`} autocomplete="off" /> Show all of it
          </label>
        )}
        <Body html={html} class={isLong ? "body long" : "body"} />
      </details>
    </article>
  );
}

/** @param html as `readHtml` returns it: sanitized */
export function AnnotationBlock({ annotation, html }: { annotation: Annotation; html: string }) {
  const { id, context, style } = annotation;
  return (
    <article class="annotation" id={`annotation-${id}`} data-style={style ?? undefined} aria-label={context}>
      <p class="quiet">
        {style && <strong>{styleWords[style]}</strong>} {context}
      </p>
      <Body html={html} class="body" />
    </article>
  );
}

function Body({ html, class: className }: { html: string; class: string }) {
  return <div class={className} dangerouslySetInnerHTML={{ __html: lowerHeadings(html) }} />;
}

function Others({ annotations, request }: { annotations: Annotation[]; request: MemberRequest }) {
  const { organization, parameter } = request;
  const build = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  return (
    <details class="fold" id="more-annotations">
      <summary>
        {annotations.length === 1 ? "One more annotation" : `${annotations.length} more annotations`}
      </summary>
      <ul>
        {annotations.map(({ id, context, style }) => (
          <li key={id}>
            <a href={pathTo(patterns.annotationPage, { ...build, annotation: id })}>{excerpt(context)}</a>
            {style && `, ${styleWords[style].toLowerCase()}`}
          </li>
        ))}
      </ul>
    </details>
  );
}
