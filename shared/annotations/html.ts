import type { Build } from "../builds/rows/build-store.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { threads } from "../sharing/resources.ts";
import { linkArtifacts } from "./artifact-links.ts";
import { findText, setHtmlIfUnchanged } from "./html-store.ts";
import { renderOffLoop } from "./rendering/renderer.ts";

/** By id and time of the body: many readers come at once. */
const running = new Map<string, Promise<string>>();

/**
 * Reads the HTML of an annotation. Its first reader has it rendered, so jobs that append do not wait for that.
 * Organizations take turns. Addresses of artifacts in it are good for an hour.
 * @returns empty if it was deleted meanwhile
 * @throws Refusal 503
 */
export async function readHtml(
  services: Services,
  build: Pick<Build, "id" | "organizationId">,
  id: string,
): Promise<string> {
  return linkArtifacts(services, build.id, await readRendered(services, build, id));
}

async function readRendered(
  services: Services,
  { organizationId }: Pick<Build, "organizationId">,
  id: string,
): Promise<string> {
  const text = await findText(services.db, id);
  if (!text || text.html !== null) return text?.html ?? "";
  const key = `${id} ${text.updatedAt.getTime()}`;
  const known = running.get(key);
  if (known) return known;
  const rendered = threads.take(organizationId, () => render(services, id));
  running.set(key, rendered);
  return rendered.finally(() => running.delete(key));
}

async function render({ db, log }: Services, id: string): Promise<string> {
  const text = await findText(db, id);
  if (!text) return "";
  const { html: known, body, buildId, updatedAt } = text;
  if (known !== null || body === null) return known ?? "";
  const html = await renderOffLoop(body, (error) =>
    log.warn({ err: error, annotationId: id }, "an annotation stays text: it could not be rendered"),
  );
  const wanted = { html, maxBytes: stored.annotations.max.bytes };
  // A database that takes no writes can still be read.
  await db.transaction((tx) => setHtmlIfUnchanged(tx, { id, buildId, updatedAt }, wanted)).catch(() => {});
  return html;
}
