import { join } from "node:path";

/** Returns the file of a bundle for a source file, such as `ingress.js` for `ingress/main.ts`. */
export function bundledFile(folder: string, source: string): string {
  return join(folder, `${nameInBundle(source)}.js`);
}

export function nameInBundle(source: string): string {
  return source.replace(/^scripts\/|(\/main)?\.ts$/g, "").replaceAll("/", "-");
}

/** The modules with functions that threads run (shared/process/threads.ts). */
export const threads = [
  "shared/crypto/derive-key.ts",
  "shared/db/sqlite/checkpoint-task.ts",
  "shared/db/sqlite/off-loop-read.ts",
  "shared/triggers/filter/evaluate.ts",
  "shared/triggers/payloads/check.ts",
  "shared/pipelines/configuration/parse.ts",
  "shared/annotations/rendering/render.ts",
];
