import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineHandler, getRouterParam, HTTPResponse } from "h3";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";

const types = {
  "style.css": "text/css;charset=UTF-8",
  "live.js": "text/javascript;charset=UTF-8",
  "log.js": "text/javascript;charset=UTF-8",
  "times.js": "text/javascript;charset=UTF-8",
  "copy.js": "text/javascript;charset=UTF-8",
  "once.js": "text/javascript;charset=UTF-8",
  "icon.svg": "image/svg+xml",
} as const;
type Asset = keyof typeof types;

const folder = import.meta.dirname;

/** The parts of style.css, in cascade order. */
const styles = [
  "base.css",
  "layout.css",
  "messages.css",
  "forms.css",
  "narrow-screens.css",
  "tables.css",
  "sections.css",
  "lists.css",
  "payloads.css",
  "logs.css",
  "job-page.css",
  "triggers.css",
  "builds.css",
  "artifacts.css",
  "stages.css",
  "annotations.css",
  "annotation-classes.css",
  "charts.css",
];

const files = Object.fromEntries(
  Object.entries(types).map(([name, type]) => {
    const paths = name === "style.css" ? styles.map((part) => `styles/${part}`) : [name];
    const bytes = Buffer.concat(paths.map((path) => readFileSync(join(folder, path))));
    return [name, { bytes, type, version: hash("sha256", bytes, "hex").slice(0, 12) }];
  }),
) as Record<Asset, { bytes: Buffer<ArrayBuffer>; type: string; version: string }>;

/** Changes with the content, so that browsers may cache it for good. */
export function assetPath(name: Asset): string {
  return `${pathTo(patterns.asset, { file: name })}?v=${files[name].version}`;
}

/** GET /assets/:file */
export function asset() {
  return defineHandler((event) => {
    const name = getRouterParam(event, "file") ?? "";
    if (!Object.hasOwn(files, name)) throw new Refusal(404, "Not Found");
    const { bytes, type } = files[name as Asset];
    return fileResponse(bytes, type, "public, max-age=31536000, immutable");
  });
}

/** A file. Its policy lets it run and load nothing when a browser opens it by itself. */
export function fileResponse(
  body: Buffer<ArrayBuffer> | string,
  type: string,
  caching: string,
): HTTPResponse {
  return new HTTPResponse(body, {
    headers: {
      "content-type": type,
      "cache-control": caching,
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    },
  });
}
