import { join } from "node:path";

/** Returns the file of a bundle for a source file, such as `ingress.js` for `ingress/main.ts`. */
export function bundledFile(folder: string, source: string): string {
  return join(folder, `${nameInBundle(source)}.js`);
}

export function nameInBundle(source: string): string {
  return source.replace(/^scripts\/|(\/main)?\.ts$/g, "").replaceAll("/", "-");
}

/** The modules that `openThread` starts (shared/process/thread.ts). */
export const threads = [
  "shared/db/sqlite/checkpoint-thread.ts",
  "shared/db/sqlite/off-loop-thread.ts",
  "shared/triggers/filter/thread.ts",
  "shared/pipelines/configuration/thread.ts",
  "shared/annotations/rendering/thread.ts",
];
