import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Cost of a file, of what it imports and of long runs, in bytes of test code. */
const bytesOfAFile = 3000;
const bytesOf: [text: string, bytes: number][] = [
  ["containers/docker.ts", 1_200_000],
  ["/assert-looks.ts", 300_000],
  ["bench/main.ts", 200_000],
  ["scripts/prove/main.ts", 300_000],
  ["./fuzz.ts", 120_000],
  ["testPlans(postgres", 60_000],
  ["findPayloadProblem", 60_000],
  ["/helpers/browser.ts", 30_000],
  ["/helpers/processes.ts", 30_000],
];

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
    const smallest = groups.reduce((least, group) => (group.size < least.size ? group : least));
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

function weigh(file: string): number {
  const text = readFileSync(file, "utf8");
  const waiting = bytesOf.map(([helper, bytes]) => (text.includes(helper) ? bytes : 0));
  return waiting.reduce((sum, bytes) => sum + bytes, text.length + bytesOfAFile);
}
