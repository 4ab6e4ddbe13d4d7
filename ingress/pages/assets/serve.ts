import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineHandler, getRouterParam, HTTPResponse } from "h3";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import { LazyFile } from "../../http/lazy-file.ts";
import { type Tone, toneOf } from "../states/tones.ts";

const types = {
  "style.css": "text/css;charset=UTF-8",
  "keys.js": "text/javascript;charset=UTF-8",
  "live.js": "text/javascript;charset=UTF-8",
  "log.js": "text/javascript;charset=UTF-8",
  "times.js": "text/javascript;charset=UTF-8",
  "copy.js": "text/javascript;charset=UTF-8",
  "filter.js": "text/javascript;charset=UTF-8",
  "fill.js": "text/javascript;charset=UTF-8",
  "once.js": "text/javascript;charset=UTF-8",
  "icon.svg": "image/svg+xml",
  "icon-runs.svg": "image/svg+xml",
  "icon-passed.svg": "image/svg+xml",
  "icon-failed.svg": "image/svg+xml",
  "icon-waits.svg": "image/svg+xml",
} as const;
type Asset = keyof typeof types;

const folder = import.meta.dirname;

/** The parts of style.css, in cascade order. */
const styles = [
  "base.css",
  "layout.css",
  "head.css",
  "states.css",
  "messages.css",
  "forms.css",
  "narrow-screens.css",
  "tables.css",
  "sections.css",
  "lists.css",
  "log/lines.css",
  "log/colors.css",
  "log/head.css",
  "log/siblings.css",
  "log/tools.css",
  "triggers.css",
  "build/head.css",
  "build/failed.css",
  "build/beside.css",
  "build/jobs.css",
  "build/bars.css",
  "build/artifacts.css",
  "build/stages.css",
  "build/annotations/section.css",
  "build/annotations/classes.css",
  "charts.css",
  "guides.css",
  "home.css",
  "stars.css",
];

/** The parts of log.js. Each imports what it takes from others. */
const logParts = [
  "page.js",
  "more-lines.js",
  "named-lines.js",
  "search.js",
  "choices.js",
  "keys.js",
  "open.js",
];

/** Of the dot on the icon of a tab, readable on light and dark. */
const dots: Record<Exclude<Tone, "other">, string> = {
  runs: "#3b7cf0",
  passed: "#1f9d6b",
  failed: "#e03e36",
  waits: "#d18b00",
};

const files = Object.fromEntries(
  Object.entries(types).map(([name, type]) => {
    const bytes = bytesOf(name as Asset);
    const version = hash("sha256", bytes, "hex").slice(0, 12);
    return [name, { file: new LazyFile(() => bytes), type, version }];
  }),
) as Record<Asset, { file: LazyFile; type: string; version: string }>;

function bytesOf(name: Asset): Buffer<ArrayBuffer> {
  const read = (path: string) => readFileSync(join(folder, path));
  if (name === "style.css") return Buffer.concat(styles.map((part) => read(`styles/${part}`)));
  if (name === "log.js") return Buffer.from(logParts.map((part) => joinable(read(`log/${part}`))).join(""));
  const [, tone] = /^icon-(\w+)\.svg$/.exec(name) ?? [];
  if (!tone) return read(name);
  const dot = `<circle cx="23" cy="23" r="9" fill="${dots[tone as keyof typeof dots]}"/></svg>`;
  return Buffer.from(read("icon.svg").toString().replace("</svg>", dot));
}

/** A module without what one file does not need: imports of other parts, and exports. */
function joinable(part: Buffer): string {
  return part
    .toString()
    .replace(/^import [^;]+;\n/gm, "")
    .replace(/^export /gm, "");
}

/** The icon of the tab of a page about something in this state. */
export function iconOf(state: string): Asset {
  const tone = toneOf(state);
  return tone === "other" ? "icon.svg" : `icon-${tone}.svg`;
}

/** Changes with the content, so that browsers may cache it for good. */
export function assetPath(name: Asset): string {
  return `${pathTo(patterns.asset, { file: name })}?v=${files[name].version}`;
}

/** GET /assets/:file */
export function asset() {
  return defineHandler((event) => {
    const name = getRouterParam(event, "file") ?? "";
    if (!Object.hasOwn(files, name)) throw new Refusal(404, "Not Found");
    const { file, type } = files[name as Asset];
    return file.answer(event, fileHeaders(type, "public, max-age=31536000, immutable"));
  });
}

export function fileResponse(body: string, type: string, caching: string): HTTPResponse {
  return new HTTPResponse(body, { headers: fileHeaders(type, caching) });
}

/** The policy lets a file run and load nothing when a browser opens it by itself. */
function fileHeaders(type: string, caching: string) {
  return {
    "content-type": type,
    "cache-control": caching,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  };
}
