import { readHtml } from "../../../shared/annotations/html.ts";
import { type Annotation, listAnnotationsForPage } from "../../../shared/annotations/store.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { AnnotationStyle } from "../../../shared/vocabulary.ts";

/** Limits of what a page shows. Annotations beyond them have pages of their own. */
const maxShown = 50;
const maxBytesOfEach = 64 * 1024;
const maxBytes = 128 * 1024;
/** A body may become eight times as much HTML. */
const maxHtmlBytes = 512 * 1024;

export interface ShownAnnotations {
  shown: { annotation: Annotation; html: string }[];
  /** The page only names these. */
  others: Annotation[];
}

/** Errors come first. */
const byConcern: (AnnotationStyle | null)[] = ["error", "warning", "info", null, "success"];

/**
 * The annotations of a build, or of one of its jobs: the highest priority first, then those of most concern. Reads only
 * what is shown.
 */
export async function loadAnnotations(
  services: Services,
  build: Build,
  jobId: string | null = null,
): Promise<ShownAnnotations> {
  const listed = await listAnnotationsForPage(services.db, { buildId: build.id, jobId });
  const concernOf = ({ style }: Annotation) => byConcern.indexOf(style);
  const all = listed.toSorted(
    (one, other) => other.priority - one.priority || concernOf(one) - concernOf(other),
  );
  const loaded: ShownAnnotations = { shown: [], others: [] };
  let bytesRead = 0;
  let htmlBytesShown = 0;
  for (const annotation of all) {
    const { bytes, htmlBytes } = annotation;
    const fits = bytes <= maxBytesOfEach && htmlBytesShown + (htmlBytes ?? 0) <= maxHtmlBytes;
    const isRead = fits && loaded.shown.length < maxShown && bytesRead + bytes <= maxBytes;
    const html = isRead ? await readUnlessBusy(services, build, annotation.id) : undefined;
    if (html !== undefined) bytesRead += bytes;
    if (html === undefined || htmlBytesShown + Buffer.byteLength(html) > maxHtmlBytes) {
      loaded.others.push(annotation);
      continue;
    }
    htmlBytesShown += Buffer.byteLength(html);
    loaded.shown.push({ annotation, html });
  }
  return loaded;
}

/** The page is there even while too many annotations are to be rendered. */
async function readUnlessBusy(services: Services, build: Build, id: string): Promise<string | undefined> {
  try {
    return await readHtml(services, build, id);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Returns true if the page has pictures of artifacts. */
export function havePictures({ shown }: ShownAnnotations): boolean {
  return shown.some(({ html }) => html.includes("<img "));
}
