import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { step } from "../../scratch/progress.ts";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";
import { copyMutant } from "./copy.ts";
import { type Mutant, mutants } from "./table.ts";

export interface Tried {
  mutant: Mutant;
  seconds: number;
  /** The line of the report that shows the fault. Undefined: it was not found. */
  found: string | undefined;
}

/** A lost delivery never converges. A whole program does sooner: `requeueStranded` takes up to half a minute. */
const patienceSeconds = 45;
const program = [
  "--import",
  "tsx",
  "--import",
  "./shared/process/drizzle-modules.ts",
  "scripts/prove/main.ts",
];

/** @throws RunFailed if there is no such mutant */
export function chooseMutants(names: string[] | undefined): Mutant[] {
  const unknown = names?.find((name) => mutants.every((mutant) => mutant.name !== name));
  if (unknown) throw new RunFailed(`There is no mutant ${unknown}.`);
  return mutants.filter(({ name }) => names?.includes(name) ?? true);
}

/** Runs this program in a copy of the project with the fault. */
export async function tryMutant(scratch: Scratch, mutant: Mutant): Promise<Tried> {
  const { database, seed, minutes, perSecond, faults } = mutant.run;
  const folder = copyMutant(scratch, mutant);
  step(`${mutant.name}: ${mutant.summary}`);
  const options = {
    ...{ database, seed, minutes, faults, patience: patienceSeconds, "per-second": perSecond },
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  scratch.onClose(() => void child.kill());
  const [report] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const lines = report.split("\n").map((line) => line.trim());
  return {
    mutant,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    found: lines.find((line) => mutant.foundBy.test(line))?.replace(/^- /, ""),
  };
}

export function formatTried({ mutant: { name, run }, seconds, found }: Tried): string {
  return `${name.padEnd(16)}${run.database}, seed ${run.seed}: ${found ? `found in ${seconds} s: ${found}` : `NOT FOUND in ${seconds} s`}`;
}
