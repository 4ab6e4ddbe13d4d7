import { readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Written by `TEST_DURATIONS=write npm test -- --all`: the milliseconds of each file's tests. */
export const recordedDurations = join(import.meta.dirname, "durations.json");
const durations: Record<string, number> = JSON.parse(readFileSync(recordedDurations, "utf8"));
/** Loading a file takes this long besides its tests. */
const loadingMs = 200;
/** The duration of a file without a record. */
const unknownMs = 3000;
/** Chromium starts in so many processes: each start takes seconds of CPU time. */
const browserGroups = 2;

/**
 * Groups files into processes: loading shared imports takes longer than many files run.
 * @param folder for the group files; the runner ignores node_modules
 * @returns the group files, or the given ones if they are few
 */
export function groupTests(files: string[], count: number, folder: string): string[] {
  if (files.length <= count) return files;
  const groups = Array.from({ length: count }, () => ({ files: [] as string[], size: 0 }));
  const bySize = files.map((file) => ({ file, size: weigh(file) })).sort((a, b) => b.size - a.size);
  for (const { file, size } of bySize) {
    const allowed = opensBrowser(file) ? groups.slice(0, browserGroups) : groups;
    // Of equal groups the last, so that the first have room for browsers.
    const smallest = allowed.reduce((least, group) => (group.size <= least.size ? group : least));
    smallest.files.push(file);
    smallest.size += size;
  }

  groups.sort((a, b) => b.size - a.size); // the longest start first: the runner goes by name
  return groups.map((group, index) => {
    const file = join(folder, `group-${String(index + 1).padStart(2, "0")}.test.mts`);
    const imports = group.files
      .sort()
      .map((each) => `import ${JSON.stringify(pathToFileURL(resolve(each)))};\n`);
    writeFileSync(file, imports.join(""));
    return file;
  });
}

function opensBrowser(file: string): boolean {
  return readFileSync(file, "utf8").includes("helpers/browser.ts");
}

function weigh(file: string): number {
  return loadingMs + (durations[relative("", file)] ?? unknownMs);
}
