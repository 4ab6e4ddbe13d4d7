import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";

/** The file of the tests that load others: reporters tell them apart by it. */
export const queueModule = import.meta.filename;
/** Written by `TEST_DURATIONS=write npm test -- --all`: the milliseconds of each file's tests. */
export const recordedDurations = join(import.meta.dirname, "durations.json");
const durations: Record<string, number> = JSON.parse(readFileSync(recordedDurations, "utf8"));
/** The duration of a file without a record. */
const unknownMs = 3000;
/** Chromium starts in so many processes: each start takes seconds of CPU time. */
const browserProcesses = 2;

/**
 * Lets a few processes run all files, as loading shared imports takes longer than many files run. Each takes the
 * longest file that is left whenever it has run one, so that they end at the same time.
 * @param folder for the queues and the processes' own files; the runner ignores node_modules
 * @returns the files of the processes, or the given ones if they are few
 */
export function queueTests(files: string[], count: number, folder: string): string[] {
  if (files.length <= count) return files;
  const queues = { browser: join(folder, "browser"), others: join(folder, "others") };
  const longestFirst = files.toSorted((a, b) => durationOf(b) - durationOf(a));
  const { browser = [], others = [] } = Object.groupBy(longestFirst, (file) =>
    opensBrowser(file) ? "browser" : "others",
  );
  writeQueue(queues.browser, browser);
  writeQueue(queues.others, others);
  return Array.from({ length: count }, (_, index) => {
    const own = index < browserProcesses ? [queues.browser, queues.others] : [queues.others];
    const file = join(folder, `process-${index + 1}.mts`);
    const module = JSON.stringify(import.meta.url);
    writeFileSync(file, `import { runQueued } from ${module};\nrunQueued(${JSON.stringify(own)});\n`);
    return file;
  });
}

/**
 * Registers the next file's tests each time those of the file before have ended. What it registers in a test belongs to
 * the root, as the runner does not follow promises (runner-hooks.ts).
 * @param queues the first with files is taken from
 */
export function runQueued(queues: string[]): void {
  let isOver = false;
  process.on("exit", () => {
    if (!isOver) process.exitCode ||= 1;
  });

  const registerNext = () => {
    const file = takeFirst(queues);
    // Also for none: a test that waits keeps the runner from ending the process, which a suite that runs does not.
    it(file ? relative("", file) : "no file is left", async () => {
      isOver = !file;
      if (!file) return;
      try {
        await import(pathToFileURL(file).href);
      } finally {
        registerNext();
      }
    });
  };
  registerNext();
}

function writeQueue(folder: string, files: string[]): void {
  mkdirSync(folder);
  for (const [index, file] of files.entries())
    writeFileSync(join(folder, String(index).padStart(5, "0")), resolve(file));
}

/** Processes race for a file: the one that deletes its entry has it. */
function takeFirst(queues: string[]): string | undefined {
  for (const queue of queues)
    for (const name of readdirSync(queue).sort()) {
      const entry = join(queue, name);
      try {
        const file = readFileSync(entry, "utf8");
        unlinkSync(entry);
        return file;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  return undefined;
}

function opensBrowser(file: string): boolean {
  return readFileSync(file, "utf8").includes("helpers/browser.ts");
}

function durationOf(file: string): number {
  return durations[relative("", file)] ?? unknownMs;
}
