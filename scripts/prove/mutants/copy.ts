import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import type { Edit, Mutant } from "./table.ts";

const root = join(import.meta.dirname, "../../..");
const leftOut = ["node_modules", ".git"];

/** Makes a copy of the project, with the faults of a mutant. Returns its folder. */
export function copyMutant(scratch: Scratch, { name, edits }: Mutant): string {
  const folder = join(scratch.dir, name);
  mkdirSync(folder);
  cpSync(root, folder, { recursive: true, filter: (path) => !leftOut.includes(relative(root, path)) });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const edit of edits) writeFileSync(join(folder, edit.file), changeSource(edit, folder));
  return folder;
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
