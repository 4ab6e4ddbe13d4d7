import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { defineHandler } from "h3";
import { minuteMs } from "../../shared/durations.ts";
import { pathTo, patterns } from "../../shared/paths.ts";
import { Refusal } from "../../shared/refusal.ts";
import { LazyFile } from "../http/lazy-file.ts";

/**
 * Its script contains everything it needs. The packages that it was built from would be half of the files that `npm ci`
 * installs, so `overrides` of package.json replaces them with an empty one.
 */
const scalar = new URL("../../node_modules/@scalar/api-reference/", import.meta.url);
const bundle = new URL("dist/browser/standalone.js", scalar);
const start = new URL("start.js", import.meta.url);

export interface DocsAssets {
  /** The paths of the scripts, in order. Each changes with its content, so that browsers may cache it for good. */
  scripts: string[];
  files: ReadonlyMap<string, LazyFile>;
}

/** Returns undefined in an installation without the renderer, which is a development dependency. */
export function findDocsAssets(): DocsAssets | undefined {
  if (!existsSync(bundle)) return undefined;
  const { version } = JSON.parse(readFileSync(new URL("package.json", scalar), "utf8"));
  const startVersion = hash("sha256", readFileSync(start), "hex").slice(0, 12);
  const files = new Map([
    [pathTo(patterns.docsAsset, { version, file: "scalar.js" }), openFile(bundle)],
    [pathTo(patterns.docsAsset, { version: startVersion, file: "start.js" }), openFile(start)],
  ]);
  return { scripts: [...files.keys()], files };
}

/** The renderer has 4 MB, and readers of the page are few. */
function openFile(url: URL): LazyFile {
  return new LazyFile(() => readFile(url), minuteMs);
}

/** GET /docs/:version/:file. Answers 404 to other versions, because the answer may be cached for good. */
export function docsAsset(assets: DocsAssets | undefined) {
  return defineHandler((event) => {
    const file = assets?.files.get(event.url.pathname);
    if (!file) throw new Refusal(404, "Not Found");
    return file.answer(event, {
      "content-type": "text/javascript;charset=UTF-8",
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": "default-src 'none'",
    });
  });
}
