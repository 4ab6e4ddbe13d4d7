import { existsSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";

/** The tests that load files are declared here: reporters recognize them by this path. */
export const queueModule = import.meta.filename;
/** Written by `TEST_DURATIONS=write npm test -- --all`: the milliseconds of each file's tests. */
export const recordedDurations = join(import.meta.dirname, "durations.json");
const durations: Record<string, number> = JSON.parse(readFileSync(recordedDurations, "utf8"));
/** The duration of a file without a record: begun too late, a long one would end after all others. */
const unknownMs = 20_000;
/** At most so many processes start Chromium: each start takes seconds of CPU time. */
const browserProcesses = 2;

/**
 * Lets a few processes run all files, as loading shared imports takes longer than many files run. Each takes the
 * longest file that is left whenever it has loaded one, to run it next. So they end at about the same time.
 * @param folder for the queues and the processes' own files
 * @returns the files of the processes
 */
export function queueTests(files: string[], count: number, folder: string): string[] {
  const queues = { browser: join(folder, "browser"), others: join(folder, "others") };
  const longestFirst = files.toSorted((a, b) => durationOf(b) - durationOf(a));
  const { browser = [], others = [] } = Object.groupBy(longestFirst, (file) =>
    opensBrowser(file) ? "browser" : "others",
  );
  writeQueue(queues.browser, browser);
  writeQueue(queues.others, others);
  return writeProcesses(count, folder, (index) => {
    const own = index < browserProcesses ? [queues.browser, queues.others] : [queues.others];
    return `import { runQueued } from ${JSON.stringify(import.meta.url)};\nrunQueued(${JSON.stringify(own)}, import.meta.filename);\n`;
  });
}

/** Returns false if a process ended while files were left. */
export function haveEnded(processFiles: string[]): boolean {
  return processFiles.every((file) => existsSync(endMarkOf(file)));
}

const endMarkOf = (processFile: string) => `${processFile}.ended`;

/**
 * Like `queueTests`, but each process loads its files beforehand, as options of the runner may leave out tests that load
 * files. All processes may start Chromium.
 */
export function divideTests(files: string[], count: number, folder: string): string[] {
  return writeProcesses(count, folder, (index) =>
    files
      .filter((_, place) => place % count === index)
      .map((file) => `import ${JSON.stringify(pathToFileURL(resolve(file)))};\n`)
      .join(""),
  );
}

function writeProcesses(count: number, folder: string, programOf: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => {
    const file = join(folder, `process-${index + 1}.mts`);
    writeFileSync(file, programOf(index));
    return file;
  });
}

/**
 * Loads the next file once the tests of the one before have ended. Tests that a file registers while it is loaded belong
 * to the root, as the runner does not follow promises (runner-hooks.ts).
 * @param queues files are taken from the first that has any
 * @param processFile the file of this process, beside which a mark is left at the end
 */
export function runQueued(queues: string[], processFile: string): void {
  const file = takeFirst(queues);
  // Also when no file is left: that its test runs shows that those of all files have ended.
  it(file ? relative("", file) : "no file is left", async () => {
    if (!file) return writeFileSync(endMarkOf(processFile), "");
    try {
      await import(pathToFileURL(file).href);
    } finally {
      runQueued(queues, processFile);
    }
  });
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
