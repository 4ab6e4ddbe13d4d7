import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { glob, stat } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";

/** A file of a job, as it is announced. */
export interface FoundFile {
  /** With `/`; of a file outside of the folder without the first one. */
  path: string;
  absolutePath: string;
  pattern: string;
  bytes: number;
  sha1: string;
  sha256: string;
}

/**
 * Finds the files that patterns match: `*` stays in a folder, `**` does not.
 * @param patterns with `;` between them
 */
export async function findFiles(patterns: string, folder: string): Promise<FoundFile[]> {
  const found = new Map<string, FoundFile>();
  for (const pattern of patterns.split(";").map((each) => each.trim())) {
    if (pattern === "") continue;
    for await (const name of glob(pattern, { cwd: folder })) {
      const absolutePath = resolve(folder, name);
      if (found.has(absolutePath) || !(await stat(absolutePath)).isFile()) continue;
      const path = (isAbsolute(name) ? name.replace(/^[\\/]+/, "") : name).split(sep).join("/");
      found.set(absolutePath, { path, absolutePath, pattern, ...(await measure(absolutePath)) });
    }
  }
  return [...found.values()];
}

/** Reads a file to its end: its size is that of the bytes whose checksums these are. */
export async function measure(file: string): Promise<Pick<FoundFile, "bytes" | "sha1" | "sha256">> {
  const sha1 = createHash("sha1");
  const sha256 = createHash("sha256");
  let bytes = 0;
  await pipeline(createReadStream(file), async (pieces) => {
    for await (const piece of pieces) {
      sha1.update(piece);
      sha256.update(piece);
      bytes += piece.length;
    }
  });
  return { bytes, sha1: sha1.digest("hex"), sha256: sha256.digest("hex") };
}

/** The place of an artifact below a folder. Undefined: its path leads out of the folder. */
export function placeBelow(folder: string, path: string): string | undefined {
  const root = resolve(folder);
  const place = resolve(root, path.replaceAll("\\", "/"));
  return place.startsWith(join(root, sep)) ? place : undefined;
}
