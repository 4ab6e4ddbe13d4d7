import { findProgram, isExecutable } from "../../scripts/find-program.ts";
import { Unusable } from "./acquired.ts";

export type FoundChromium = { program: string } | { missing: string };

/** Prefers TEST_CHROMIUM to the PATH. */
export function findChromium(env: NodeJS.ProcessEnv): FoundChromium {
  if (env.TEST_CHROMIUM) return useGiven(env.TEST_CHROMIUM);
  const program = findProgram(["chromium", "chromium-browser", "google-chrome"]);
  return program
    ? { program }
    : { missing: "there is no chromium, chromium-browser or google-chrome on the PATH" };
}

function useGiven(program: string): FoundChromium {
  if (!isExecutable(program)) throw new Unusable(`TEST_CHROMIUM names no program: ${program}.`);
  return { program };
}
