import { webAddress } from "../artifacts/artifacts.ts";
import { downloadUrl } from "../artifacts/signatures.ts";
import { hourMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import { escapeText, replaceTags, type Tag, unescapeText } from "./rendering/tags.ts";
import { listArtifactsOfPaths, type NamedArtifact } from "./store.ts";

const scheme = "artifact://";
/** In an annotation. Others lead nowhere. */
const maxPaths = 10;

/**
 * Replaces `artifact://path` in links and pictures by the address of the newest such artifact of the build, good for an
 * hour at least. Without one, a link leads nowhere, and of a picture its text stays.
 */
export async function linkArtifacts(services: Services, buildId: string, html: string): Promise<string> {
  if (!html.includes(scheme)) return html;
  const named = new Set<string>();
  replaceTags(html, (tag) => {
    const path = pathOf(tag);
    if (path !== undefined && named.size < maxPaths) named.add(path);
    return undefined;
  });
  if (named.size === 0) return html;
  const found = await listArtifactsOfPaths(services.db, buildId, [...named].flatMap(spellingsOf));
  const byPath = new Map(found.reverse().map((artifact) => [artifact.path.replaceAll("\\", "/"), artifact]));

  return replaceTags(html, (tag) => {
    const path = pathOf(tag);
    if (path === undefined) return undefined;
    const artifact = named.has(path) ? byPath.get(path) : undefined;
    const { href: _href, src: _src, ...rest } = tag.attributes;
    const address = artifact && addressOf(services, artifact);
    if (tag.name === "a") return tag.write(address ? { href: escapeText(address), ...rest } : rest);
    // A picture of another host would tell it who looks.
    if (!address || artifact.uploadDestination !== null) return rest.alt ?? "";
    return tag.write({ src: escapeText(address), ...rest });
  });
}

/** Agents upload to places of their own, too. */
function addressOf(services: Services, { id, uploadDestination, url }: NamedArtifact): string | undefined {
  if (uploadDestination === null) return downloadUrl(services, id, stableMs(services.clock.now()));
  return webAddress(url);
}

/** The same end for an hour at least: a page that is refreshed has the same addresses, and loads no picture again. */
function stableMs(now: Date): number {
  return 2 * hourMs - (now.getTime() % hourMs);
}

/** With slashes. Markdown has encoded the address; HTML has it as it was written. */
function pathOf({ isEnd, attributes }: Tag): string | undefined {
  const address = unescapeText(attributes.src ?? attributes.href ?? "");
  if (isEnd || !address.startsWith(scheme)) return undefined;
  const path = decode(address.slice(scheme.length)).replaceAll("\\", "/");
  return path === "" || path.includes("\0") ? undefined : path;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Windows agents name paths with backslashes. */
function spellingsOf(path: string): string[] {
  return [...new Set([path, path.replaceAll("/", "\\")])];
}
