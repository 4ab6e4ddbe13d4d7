import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { RunFailed, type Scratch } from "../../scratch/scratch.ts";

const nsPerMs = 1e6;

/**
 * Adds a time to each fsync and fdatasync of the processes that start from now on, as a slower disk would.
 * @throws RunFailed without a C compiler
 */
export function slowSyncs(scratch: Scratch, ms: number): void {
  const library = join(scratch.dir, "slow-sync.so");
  const delay = `-DDELAY_NS=${Math.round(ms * nsPerMs)}L`;
  const source = join(import.meta.dirname, "slow-sync.c");
  try {
    execFileSync("cc", ["-shared", "-fPIC", "-O2", delay, "-o", library, source, "-ldl"], { stdio: "pipe" });
  } catch (error) {
    throw new RunFailed(`Slow syncs need a C compiler, \`cc\`, and Linux: ${(error as Error).message}`);
  }
  scratch.environment.LD_PRELOAD = library;
}
