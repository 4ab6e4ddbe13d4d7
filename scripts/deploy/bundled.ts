import { join } from "node:path";

/** Returns the file of a bundle for a source file, such as `ingress.js` for `ingress/main.ts`. */
export function bundledFile(folder: string, source: string): string {
  return join(folder, `${nameInBundle(source)}.js`);
}

export function nameInBundle(source: string): string {
  return source.replace(/^scripts\/|(\/main)?\.ts$/g, "").replaceAll("/", "-");
}
