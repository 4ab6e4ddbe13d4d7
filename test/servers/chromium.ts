import { findProgram, isExecutable } from "../../scripts/find-program.ts";
import { Unusable } from "./acquired.ts";

export type FoundChromium = { program: string } | { missing: string };

/** The first has no windows to draw: pages take three quarters of the CPU time. */
const programs = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** Prefers TEST_CHROMIUM to the PATH. */
export function findChromium(env: NodeJS.ProcessEnv): FoundChromium {
  if (env.TEST_CHROMIUM) return useGiven(env.TEST_CHROMIUM);
  const program = findProgram(programs);
  return program ? { program } : { missing: `none of ${programs.join(", ")} is on the PATH` };
}

function useGiven(program: string): FoundChromium {
  if (!isExecutable(program)) throw new Unusable(`TEST_CHROMIUM names no program: ${program}.`);
  return { program };
}
