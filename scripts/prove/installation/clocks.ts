import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scratch } from "../../scratch/scratch.ts";

const libraries = "/usr/lib/{*/,}faketime/libfaketimeMT.so.1";

/** Moves the wall clocks of processes, by libfaketime. Their monotonic clocks stay. */
export interface Clocks {
  /** Why no clock can be moved. */
  cannotMove: string | undefined;
  /** Returns the environment of a process whose clock can be moved. */
  environment(process: string): Record<string, string>;
  /** Takes effect within a second. */
  move(process: string, seconds: number): void;
}

export function openClocks(scratch: Scratch): Clocks {
  const [library] = globSync(libraries);
  const fileOf = (process: string) => join(scratch.dir, `${process}.clock`);
  const move = (process: string, seconds: number) =>
    writeFileSync(fileOf(process), `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`);
  return {
    cannotMove: library ? undefined : "there is no libfaketime (Debian: the package faketime)",
    environment(process): Record<string, string> {
      if (!library) return {};
      move(process, 0);
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: fileOf(process),
        FAKETIME_CACHE_DURATION: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        FAKETIME_DISABLE_SHM: "1", // killed processes would leave it behind
      };
    },
    move,
  };
}
