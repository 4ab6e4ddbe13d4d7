import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { loaders } from "../../node-options.ts";
import { step } from "../../scratch/progress.ts";
import { RunFailed, type Scratch, withScratch } from "../../scratch/scratch.ts";
import { type Edit, type Mutant, mutants } from "./table.ts";

const root = join(import.meta.dirname, "../../..");
const leftOut = ["node_modules", ".git"];
/** A lost delivery never converges. A whole program does sooner. */
const patience = 45;
const seed = 1;

/** @throws RunFailed if there is no such mutant */
export function chooseMutants(names: string[] | undefined): Mutant[] {
  const unknown = names?.find((name) => mutants.every((mutant) => mutant.name !== name));
  if (unknown) throw new RunFailed(`There is no mutant ${unknown}.`);
  return mutants.filter(({ name }) => names?.includes(name) ?? true);
}

/** Runs mutants, and prints whether each was found. @returns true if all were */
export async function tryMutants(names: string[] | undefined): Promise<boolean> {
  let areFound = true;
  for (const mutant of chooseMutants(names)) {
    const startedAt = performance.now();
    const found = await withScratch((scratch) => tryMutant(scratch, mutant));
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const { database = "sqlite" } = mutant.run;
    const words = found ? `found in ${seconds} s: ${found}` : `NOT FOUND in ${seconds} s`;
    process.stdout.write(`${mutant.name.padEnd(16)}${database}, seed ${seed}: ${words}\n`);
    areFound &&= found !== undefined;
  }
  return areFound;
}

/** Runs this program in a copy of the project with the fault. @returns the line of the report that shows it */
async function tryMutant(scratch: Scratch, { name, summary, edits, run, foundBy }: Mutant) {
  const folder = join(scratch.dir, name);
  mkdirSync(folder);
  cpSync(root, folder, { recursive: true, filter: (path) => !leftOut.includes(relative(root, path)) });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const edit of edits) writeFileSync(join(folder, edit.file), changeSource(edit, folder));
  step(`${name}: ${summary}`);
  const { perSecond, ...options } = run;
  const given = Object.entries({ ...options, "per-second": perSecond, seed, patience });
  const args = ["scripts/prove/main.ts", ...given.map(([option, value]) => `--${option}=${value}`)];
  const child = spawn(process.execPath, [...loaders, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  scratch.onClose(() => void child.kill());
  const [report] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const lines = report.split("\n").map((line) => line.trim());
  return lines.find((line) => foundBy.test(line))?.replace(/^- /, "");
}

/** Returns a file of the project, or of a copy, with an edit. @throws RunFailed if the text does not occur once */
export function changeSource({ file, from, to }: Edit, folder = root): string {
  const pieces = readFileSync(join(folder, file), "utf8").split(from);
  const occurrences = pieces.length - 1;
  if (occurrences !== 1)
    throw new RunFailed(
      `${file} has changed: a text that a mutant replaces occurs ${occurrences} times. ` +
        `Adapt scripts/prove/mutants/table.ts. The text:\n${from}`,
    );
  return pieces.join(to);
}
